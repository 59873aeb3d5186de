// Tests of finding a snapshot by a mark's name.

import Foundation
import SnapshotDSL
import SnapshotFormat
import Testing

@testable import Commands

@Suite struct SnapshotPlaceTests {
  /// A folder in which marks lie as the agent names them.
  private func folder(_ marks: [(file: String, name: String)]) throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("memory-graph-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for mark in marks {
      var snapshot = Clinic.cleanSnapshot
      snapshot.process.mark = mark.name
      try snapshot.write(to: folder.appendingPathComponent(mark.file + ".mgraph").path)
    }
    return folder
  }

  @Test("A mark is found by the name that was given, whatever characters it has")
  func oddNames() throws {
    let folder = try folder([
      ("m-1-x", "m 1/x"), ("m-1-x-2", "m:1:x"), ("m-1-x-3", "m 1 x"), ("-", ""), ("-.-up", "../up"),
      ("plain.1", "plain.1"),
    ])
    defer { try? FileManager.default.removeItem(at: folder) }
    let place = SnapshotPlace(folder: folder.path, environment: { _ in nil })
    for (name, file) in [
      ("m 1/x", "m-1-x"), ("m:1:x", "m-1-x-2"), ("m 1 x", "m-1-x-3"), ("../up", "-.-up"), ("", "-"),
      ("plain.1", "plain.1"), ("m-1-x-2", "m-1-x-2"),
    ] {
      #expect(try place.path(of: name) == folder.path + "/" + file + ".mgraph", "\(name)")
    }
  }

  @Test("A mark that is not there is told with those that are", arguments: ["m 2", "m/2", "m"])
  func unknown(name: String) throws {
    let folder = try folder([("m-1", "m 1"), ("n", "n")])
    defer { try? FileManager.default.removeItem(at: folder) }
    let place = SnapshotPlace(folder: folder.path, environment: { _ in nil })
    #expect {
      try place.path(of: name)
    } throws: { error in
      (error as? CommandError)?.sentence
        == "\(name): neither a file nor a mark; the marks in \(folder.path) are m-1, n"
    }
  }

  @Test("A file comes before a mark, and a path that is none is called so")
  func files() throws {
    let folder = try folder([("m", "m")])
    defer { try? FileManager.default.removeItem(at: folder) }
    let place = SnapshotPlace(folder: "/nowhere", environment: { _ in nil })
    let file = folder.appendingPathComponent("m.mgraph").path
    #expect(try place.path(of: file) == file)
    #expect {
      try place.path(of: folder.path + "/n.mgraph")
    } throws: { error in
      (error as? CommandError)?.sentence.contains("No such file or directory") == true
    }
  }
}
