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
var text = ""
while let line = readLine() {
  guard let address = UInt64(line.dropFirst(2), radix: 16) else { continue }
  let frame = symbolizer.frames(atInstruction: address).first
  text += "\(frame?.function ?? "?") \(frame?.file ?? "?"):\(frame?.line ?? 0)\n"
}
print(text, terminator: "")
