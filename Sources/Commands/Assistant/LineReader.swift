// LineReader: cuts input into lines, and doesn't let one of them fill the memory.

/// The lines of a source.
struct LineReader {
  /// A line, without its end.
  enum Line: Equatable {
    case text([UInt8])

    /// More bytes than a line may have; they were dropped.
    case tooLong
  }

  private let _source: any ByteSource
  private let _limit: Int
  private var _buffer: [UInt8] = []
  private var _isDropping = false
  private var _isAtEnd = false

  /// How far the buffer is known to have no end of line.
  private var _searched = 0

  /// - Parameter limit: The most bytes of a line.
  init(_ source: any ByteSource, limit: Int) {
    _source = source
    _limit = limit
  }

  /// The next line; nil at the end. What stands behind the last end of line is a line, too.
  ///
  /// - Complexity: O(*n*) for *n* bytes, and at most the limit and a piece of input in memory.
  mutating func next() throws(SinkError) -> Line? {
    while true {
      if let end = _buffer[_searched...].firstIndex(of: UInt8(ascii: "\n")) {
        var line = _buffer[..<end]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        let isTooLong = _isDropping || line.count > _limit
        let result = isTooLong ? Line.tooLong : .text(Array(line))
        _buffer.removeFirst(end + 1)
        _searched = 0
        _isDropping = false
        return result
      }
      _searched = _buffer.count
      // One more may be the return before the end.
      if _buffer.count > _limit + 1 {
        _isDropping = true
        _buffer.removeAll(keepingCapacity: true)
        _searched = 0
      }
      if _isAtEnd {
        guard !_buffer.isEmpty || _isDropping else { return nil }
        let result = _isDropping || _buffer.count > _limit ? Line.tooLong : .text(_buffer)
        _buffer = []
        _searched = 0
        _isDropping = false
        return result
      }
      let piece = try _source.read()
      if piece.isEmpty { _isAtEnd = true } else { _buffer += piece }
    }
  }
}
