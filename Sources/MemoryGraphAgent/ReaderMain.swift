// ReaderMain: what this program does when its agent executes it again to read a twin.

internal import HeapCapture

/// The reader's entry point. The hooks call it from a constructor, before `main`, and end the process
/// with its result.
@_cdecl("mg_reader_main")
public func _readerMain(_ channel: Int32) -> Int32 { onLargeStack { serveChannel(channel) } }
