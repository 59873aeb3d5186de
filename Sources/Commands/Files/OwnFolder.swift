// OwnFolder: where this program lies, and with it what belongs beside it.

internal import Glibc

/// The folder of this program's file, with a slash at its end; empty where `/proc` is not there.
func ownFolder() -> String {
  var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
  let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count - 1))
  let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  return path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
}
