// Trees: small objects, from one place or from very many stacks.

final class Node {
  var left: Node?
  var right: Node?

  init(_ left: Node?, _ right: Node?) {
    self.left = left
    self.right = right
  }
}

@inline(never) private func count(_ node: Node) -> Int {
  1 + (node.left.map(count) ?? 0) + (node.right.map(count) ?? 0)
}

/// Each node is asked for by another stack: a recursion of `depth` levels has 2^depth of them.
@inline(never) private func makeDeep(_ depth: Int) -> Node {
  depth == 0 ? Node(nil, nil) : Node(makeDeep(depth - 1), makeDeep(depth - 1))
}

/// The same shape from one place, level by level.
@inline(never) private func makeFlat(_ depth: Int) -> Node {
  var level = (0..<(1 << depth)).map { _ in Node(nil, nil) }
  while level.count > 1 {
    level = stride(from: 0, to: level.count, by: 2).map { Node(level[$0], level[$0 + 1]) }
  }
  return level[0]
}

/// Many stacks, the worst case for a table of stacks: `scale` trees of 32,767 nodes beside one of 131,071.
@Sendable func deepTrees(_ scale: Int) -> Int {
  let long = makeDeep(16)
  return (0..<scale).reduce(count(long)) { sum, _ in sum + count(makeDeep(14)) }
}

/// Few stacks: the same trees.
@Sendable func flatTrees(_ scale: Int) -> Int {
  let long = makeFlat(16)
  return (0..<scale).reduce(count(long)) { sum, _ in sum + count(makeFlat(14)) }
}

/// All alive at once: `scale` trees of 65,535 nodes.
@Sendable func liveTrees(_ scale: Int) -> Int {
  let trees = (0..<scale).map { _ in makeFlat(15) }
  return trees.reduce(0) { $0 + count($1) }
}

/// A ring of 64 objects that is written over a million times for each of `scale`.
@Sendable func ring(_ scale: Int) -> Int {
  var ring = [Node?](repeating: nil, count: 64)
  for turn in 0..<(scale * 1_000_000) { ring[turn & 63] = Node(nil, nil) }
  return ring.count + scale
}
