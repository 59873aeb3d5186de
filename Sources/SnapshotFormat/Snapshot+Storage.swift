// Snapshot+Storage: how full strings and collections are, and which strings are equal.

extension Snapshot {
  /// What is known of the storage of strings and collections beyond its size, in ascending order of node.
  ///
  /// Nothing of the contents is here: strings are told apart by whether they are equal.
  public struct Storage: Sendable {
    /// The node; strictly ascending.
    public var node: Column<UInt32>

    /// Elements, or the bytes of a string's UTF-8.
    public var count: Column<UInt64>

    /// How many there is room for.
    public var capacity: Column<UInt64>

    /// The number of a string's text, counted from 1 in the order of addresses; 0 for a text that no other
    /// string has, and for collections.
    public var text: Column<UInt32>

    public var rowCount: Int { node.count }

    public init(
      node: Column<UInt32> = Column(), count: Column<UInt64> = Column(),
      capacity: Column<UInt64> = Column(), text: Column<UInt32> = Column()
    ) {
      self.node = node
      self.count = count
      self.capacity = capacity
      self.text = text
    }
  }
}
