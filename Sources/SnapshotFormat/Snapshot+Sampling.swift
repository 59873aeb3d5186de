// Snapshot+Sampling: which births a snapshot knows where a sample of the allocations was recorded.

internal import Glibc
public import GraphPrimitives

extension Snapshot {
  /// The allocations that were recorded where not all were.
  ///
  /// Of each `interval` bytes that the program asked for one, in the mean, is a sample, independently of the others;
  /// of a block with a sample in it generation and stack are known, of no other. A block of *s* bytes has
  /// one with the probability 1 - exp(-*s* / `interval`).
  public struct Sampling: Sendable {
    /// In bytes, not 0.
    public var interval: UInt64

    /// The nodes in sampled blocks; strictly ascending.
    public var node: Column<UInt32>

    /// The bytes of each one's block, as they were asked for.
    public var bytes: Column<UInt64>

    public init(
      interval: UInt64, node: Column<UInt32> = Column(), bytes: Column<UInt64> = Column()
    ) {
      self.interval = interval
      self.node = node
      self.bytes = bytes
    }

    /// The row of a node; nil where it is no sample.
    ///
    /// - Complexity: O(log *n*) for *n* samples.
    public func row(of wanted: NodeIndex) -> Int? {
      var low = 0
      var high = node.count
      while low < high {
        let middle = (low + high) / 2
        if node[middle] < wanted.rawValue { low = middle + 1 } else { high = middle }
      }
      return low < node.count && node[low] == wanted.rawValue ? low : nil
    }

    /// How many blocks of its size a sample stands for: 1 / (1 - exp(-bytes / interval)), so that a sum over the
    /// samples has the whole's sum as its mean, as the profilers of tcmalloc and jemalloc scale theirs.
    public func weight(ofRow row: Int) -> Double {
      -1 / expm1(-Double(max(bytes[row], 1)) / Double(max(interval, 1)))
    }
  }

  /// Whether generation and stack of a node are what they were at its birth, not just unknown.
  ///
  /// - Complexity: O(1); O(log *n*) for *n* samples.
  public func knowsBirth(of node: NodeIndex) -> Bool {
    guard process.hasAgent else { return false }
    return sampling.map { $0.row(of: node) != nil } ?? true
  }

  /// How many nodes like it a node stands for in figures by generation or stack: 1 where all births are known, 0 where
  /// its own is not.
  ///
  /// - Complexity: O(1); O(log *n*) for *n* samples.
  public func birthWeight(of node: NodeIndex) -> Double {
    guard let sampling else { return 1 }
    return sampling.row(of: node).map { sampling.weight(ofRow: $0) } ?? 0
  }
}
