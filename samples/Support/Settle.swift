// Waiting for what was set going to come to rest, without guessing how long that takes.
import Glibc

/// Returns when all that was ready to run has run: the main queue is empty and every other thread waits.
/// What only a timer or another process will set going again is not waited for.
@MainActor
package func settle() async {
  // One round isn't enough: a thread that has come to rest may have left something on the main queue.
  for _ in 1...3 {
    // All that is queued on the main actor before this one runs first.
    await Task.yield()
    while !otherThreadsWait() { usleep(100) }
  }
}

/// Whether the kernel says of each thread but the calling one that it sleeps.
private func otherThreadsWait() -> Bool {
  guard let folder = opendir("/proc/self/task") else { return true }
  defer { closedir(folder) }
  let own = ownThread()
  while let entry = readdir(folder) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    guard name.first?.isNumber == true, name != own else { continue }
    if let state = state(ofThread: name), state != "S" { return false }
  }
  return true
}

/// The number of the calling thread. It needn't be the main one: libdispatch runs the main queue on whichever
/// thread it likes, once an asynchronous `main` has given it the first.
private func ownThread() -> String {
  let link = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
    guard let start = buffer.baseAddress else { return "" }
    let text = start.assumingMemoryBound(to: CChar.self)
    let count = readlink("/proc/thread-self", text, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
  return String(link.split(separator: "/").last ?? "")
}

/// The letter that the kernel has for what a thread does; nil where it has ended.
private func state(ofThread name: String) -> Character? {
  let file = open("/proc/self/task/\(name)/stat", O_RDONLY)
  guard file >= 0 else { return nil }
  defer { close(file) }
  let text = withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
    let count = read(file, buffer.baseAddress, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
  // The state follows the thread's name, which is in parentheses and may hold any character.
  guard let end = text.lastIndex(of: ")") else { return nil }
  return text[end...].dropFirst(2).first
}
