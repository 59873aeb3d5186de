// Old words in the buffers of streams.
import Glibc

/// Leaks an object and leaves its address behind the text in a stream's buffer.
func leaveWordsInStreams() {
  guard let stream = fopen("/dev/null", "w") else { preconditionFailure("no stream") }
  fputs("text", stream)
  for offset in stride(from: 64, to: 512, by: 8) {
    leak(into: stream, offset)
  }
  clearStack(depth: 64)
  standStill()
}

@inline(never)
private func leak(into stream: UnsafeMutablePointer<FILE>, _ offset: Int) {
  let node = Unmanaged.passRetained(Node("leaked")).toOpaque()
  UnsafeMutableRawPointer(stream.pointee._IO_buf_base)
    .storeBytes(of: node, toByteOffset: offset, as: UnsafeMutableRawPointer.self)
}
