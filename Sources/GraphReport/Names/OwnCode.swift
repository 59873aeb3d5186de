// OwnCode: what is the program's own code and what comes with Swift or the system.

package import Symbolication

/// Tells a program's own code from that of Swift, Foundation and the C library.
///
/// The lists are names, since a snapshot may be read on another machine than it was taken on. What is
/// not listed counts as the program's own: showing too much is better than hiding a culprit.
package enum OwnCode {
  /// How the files of libraries that come with the toolchain or the system begin.
  private static let systemFiles = [
    "libswift", "libFoundation", "lib_Foundation", "lib_Testing", "libTesting", "libXCTest",
    "libdispatch", "libBlocksRuntime", "libMemoryGraphPreload", "libc.so", "libm.so", "libstdc++",
    "libgcc_s", "libpthread", "libdl.so", "librt.so", "libunwind", "ld-linux", "linux-vdso",
  ]

  /// How functions of the runtime begin, for programs that have it inside.
  private static let systemFunctions = [
    "Swift.", "swift_", "swift::", "_swift_", "Foundation.", "FoundationEssentials.",
    "_Concurrency.", "MemoryGraphTesting.", "MemoryGraphAgent.",
    "Dispatch.", "_dispatch_", "dispatch_", "CF", "_CF", "__CF", "malloc", "calloc", "realloc",
    "posix_memalign", "aligned_alloc", "memalign", "operator new", "__libc_", "_start",
    "start_thread",
  ]

  /// Whether a file of that name comes with the toolchain or the system.
  package static func isSystem(file name: some StringProtocol) -> Bool {
    systemFiles.contains { name.hasPrefix($0) }
  }

  /// Whether a frame is the program's own code.
  package static func isOwn(_ frame: SourceFrame) -> Bool {
    guard let module = frame.module else { return false }
    if isSystem(file: module) { return false }
    // Generic functions of a library are compiled into the program that calls them, their closures too.
    var function = frame.function[...]
    while let closure = function.firstRange(of: " in ") {
      function = function[closure.upperBound...]
    }
    if function.hasPrefix("static ") { function = function.dropFirst("static ".count) }
    // The concurrency runtime's own functions in a program that has the runtime inside.
    if function.contains("(swift::AsyncContext*") { return false }
    return function != "reabstraction thunk"
      && !systemFunctions.contains { function.hasPrefix($0) }
  }

  /// Functions that do nothing but allocate: every stack begins with some of them.
  private static let allocators: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign",
    "valloc", "pvalloc", "swift_slowAlloc", "swift_slowAllocTyped", "swift_allocObject",
    "swift_allocBox", "swift_allocError", "_swift_allocObject_", "operator new(unsigned long)",
    "swift::swift_slowAllocTyped", "swift_makeBoxUnique", "swift_allocEmptyBox",
    "operator new[](unsigned long)", "strdup", "strndup", "__strdup",
    "static Swift.UnsafeMutablePointer.allocate",
    "static Swift.UnsafeMutableRawPointer.allocate",
    "static Swift.UnsafeMutableBufferPointer.allocate",
    "static Swift.UnsafeMutableRawBufferPointer.allocate",
    "_dispatch_calloc", "_dispatch_object_alloc", "_os_object_alloc", "_os_object_alloc_realized",
    "CFAllocatorAllocate", "_CFAllocatorAllocate", "__CFAllocatorSystemAllocate",
    "_CFRuntimeCreateInstance",
    "swift_task_create", "swift_task_create_common", "swift_task_create_commonImpl",
  ]

  /// Whether a frame says only that memory was asked for.
  package static func isAllocator(_ frame: SourceFrame) -> Bool {
    let name = frame.function.prefix { $0 != "(" }
    return allocators.contains(String(name)) || allocators.contains(frame.function)
      || frame.module?.hasPrefix("libMemoryGraphPreload") == true
  }
}
