// ViewerPagesTests: the pages that the browser tests look at, written where VIEWER_PAGES names a folder.

import Foundation
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

/// Writes the pages for `scripts/test-viewer`, which alone sets the folder: the symbols of the clinic exist in tests only.
@Suite struct ViewerPagesTests {
  static let folder = ProcessInfo.processInfo.environment["VIEWER_PAGES"]

  @Test("Pages for the browser tests", .enabled(if: folder != nil))
  func write() throws {
    let folder = try #require(Self.folder)
    let clinic = try Clinic()
    defer { clinic.remove() }
    let hostile = clinic.folder + "/hostile.mgraph"
    try Self.hostile.snapshot().write(to: hostile)
    let hub = clinic.folder + "/hub.mgraph"
    try Self.hub.snapshot().write(to: hub)
    let calls = ["call-1.mgraph", "call-2.mgraph", "call-3.mgraph"]
    for (name, words) in [
      ("clinic", calls), ("one", ["call-3.mgraph"]), ("waiting", ["waiting.mgraph"]),
      ("clean", ["clean.mgraph"]), ("hostile", [hostile]), ("hub", [hub]),
      ("part", ["call-3.mgraph", "--embed", "leaks"]),
    ] {
      let call = clinic.call(["view"] + words)
      try #require(call.status == .nothingFound, "\(call.errors)")
      try call.output.write(toFile: "\(folder)/\(name).html", atomically: true, encoding: .utf8)
    }
  }

  /// An object that twenty others hold, each of another type, so that most are folded.
  static var hub: SnapshotDSL {
    var heap = SnapshotDSL()
    let hub = heap.object("App.Hub")
    for number in 1...20 {
      let holder = heap.object("App.Holder\(number)")
      heap.root(.declared, to: holder, label: "holder \(number)")
      heap.edge(holder, "hub", to: hub)
    }
    heap.mark("end", generation: 0)
    return heap
  }

  /// Every name that the tests of `view` call hostile, in a cycle and in a chain from a root.
  static var hostile: SnapshotDSL {
    var heap = SnapshotDSL()
    var before: SnapshotDSL.Node?
    for name in ViewTests.hostileNames {
      let node = heap.object(name, name: "named " + name)
      if let before {
        heap.edge(before, name, to: node)
      } else {
        heap.root(.declared, to: node, label: name)
      }
      before = node
      let loop = heap.object("leaked " + name)
      heap.edge(loop, name, to: loop)
    }
    heap.mark("<b>mark</b>", generation: 0)
    return heap
  }
}
