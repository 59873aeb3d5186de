// Tests of OutputPlace: what a path for output leads to.

import Glibc
import Testing

@testable import SnapshotFormat

@Suite struct OutputPlaceTests {
  @Test("A link stays one, and what the system links to descriptors is a stream")
  func places() throws {
    var template = Array("/tmp/memory-graph-place-XXXXXX".utf8CString)
    let made = try #require(mkdtemp(&template))
    let folder = String(cString: try #require(realpath(made, nil)))
    defer {
      for name in ["file", "link", "lost", "pipe"] { unlink(folder + "/" + name) }
      rmdir(folder)
    }
    close(open(folder + "/file", O_WRONLY | O_CREAT, 0o600))
    symlink("file", folder + "/link")
    symlink("nowhere", folder + "/lost")
    mkfifo(folder + "/pipe", 0o600)

    #expect(OutputPlace(folder + "/file").path == folder + "/file")
    #expect(OutputPlace(folder + "/link").path == folder + "/file")
    #expect(!OutputPlace(folder + "/link").isStream && !OutputPlace(folder + "/new").isStream)
    #expect(OutputPlace(folder + "/lost").path == folder + "/lost")
    #expect(OutputPlace(folder + "/pipe").isStream)
    // Wherever this test's output goes.
    for path in ["/dev/stdout", "/dev/null", "/proc/self/fd/1"] {
      #expect(OutputPlace(path).isStream && OutputPlace(path).path == path)
    }
  }
}
