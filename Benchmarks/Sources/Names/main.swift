// Names: names and lines for addresses in one file, as the reports get them.
//
//     Names FILE BUILD-ID < ADDRESSES    a line an address: function, file and line of the innermost frame

import Glibc
import SnapshotFormat
import Symbolication

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  let usage = "usage: Names FILE BUILD-ID < ADDRESSES\n"
  _ = usage.withCString { write(2, $0, strlen($0)) }
  exit(2)
}
let symbolizer = Symbolizer(modules: [
  Snapshot.Module(path: arguments[1], buildID: arguments[2], bias: 0, start: 0, end: 1 << 47)
])

/// All that standard input has.
func readInput() -> [UInt8] {
  var input: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(0, &piece, piece.count)
    guard count > 0 else { return input }
    input += piece[..<count]
  }
}

var output: [UInt8] = []
for line in readInput().split(separator: UInt8(ascii: "\n")) {
  guard let address = UInt64(String(decoding: line.dropFirst(2), as: UTF8.self), radix: 16),
    let frame = symbolizer.frames(atInstruction: address).first
  else { continue }
  output += Array(frame.function.utf8)
  output.append(UInt8(ascii: " "))
  output += Array((frame.file ?? "?").utf8)
  output += Array(":\(frame.line ?? 0)\n".utf8)
}
var rest = output[...]
while !rest.isEmpty {
  let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  guard count > 0 else { exit(1) }
  rest = rest.dropFirst(count)
}
