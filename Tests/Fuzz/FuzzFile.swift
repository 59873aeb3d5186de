// FuzzFile: bytes as a file that has a path and lies in no folder.

import Glibc

func withFile(_ bytes: [UInt8], _ body: (String) -> Void) {
  let file = open("/dev/shm", O_RDWR | 0o20_000_000 | O_DIRECTORY, 0o600)
  guard file >= 0, ftruncate(file, 0) == 0 else { fatalError("no file can be made") }
  defer { close(file) }
  var done = 0
  while done < bytes.count {
    let count = bytes.withUnsafeBytes {
      write(file, $0.baseAddress.map { $0 + done }, bytes.count - done)
    }
    guard count > 0 else { fatalError("no file can be written") }
    done += count
  }
  body("/proc/self/fd/\(file)")
}

func writeFile(_ bytes: [UInt8], to path: String) {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  guard file >= 0, write(file, bytes, bytes.count) == bytes.count else {
    fatalError("\(path) can't be written")
  }
  close(file)
}
