// PathText: a way from a root to an object in words.

internal import GraphAnalysis
internal import GraphPrimitives

/// A path in words.
struct PathText {
  let path: RetainPath
  let names: Names

  /// How many steps at the start are part of the root: the storage of a global array is.
  var foldedCount: Int {
    guard let first = path.steps.first, names.isFolded(first.node) else { return 0 }
    return 1
  }

  var steps: [StepText] {
    let steps = Array(path.steps.dropFirst(foldedCount))
    let leading = foldedCount > 0 ? path.steps[0].edges.last : nil
    return StepText.texts(of: steps, reachedBy: leading, names: names)
  }

  /// What kind of root it is and its name, with the fields that are folded into it.
  private var root: (kind: String, name: String) {
    let root = names.root(path.root)
    guard foldedCount > 0 else { return root }
    let field = names.field(from: path.steps[0].node, by: path.steps[0].edges)
    return (root.kind, Names.join(root.name, field))
  }

  /// The type that the path leads to.
  var target: String { names.typeName(of: path.target, reachedBy: path.steps.last?.edges.last) }

  /// The path as links of a chain: the root, each step, the target. What repeats itself is one link.
  var chain: [Line] {
    let root = self.root
    var title = Line(Repetitions.folded(path: root.name), .code)
    if root.kind == "stack" || root.kind == "register" { title = Line(root.name) }
    return [title] + Repetitions.folded(steps.flatMap(\.links)) + [Line(target, .code)]
  }

  /// The field or variable that the path ends with, where what it leads to is a container: `App.Log.lines`. Where in the
  /// variable the container lies, as in that of a `Mutex`, says nothing.
  var container: Line {
    let chain = self.chain
    let last = Names.foldingIndices(chain[max(0, chain.count - 2)])
    guard chain.count == 2, let plus = last.text.lastIndex(of: "+") else { return last }
    let offset = last.text[last.text.index(after: plus)...]
    return !offset.isEmpty && offset.allSatisfy(\.isNumber)
      ? .code(String(last.text[..<plus])) : last
  }

  /// The path as an element of `paths`.
  var json: JSONValue {
    .members([
      "root": .members(["kind": .string(root.kind), "name": .string(root.name)]),
      "steps": .array(steps.map(\.json)),
      "target": .members([
        "type": .string(target), "address": .string(names.address(of: path.target).description),
      ]),
    ])
  }

  /// The path as a finding has it: the root is its first element.
  var findingJSON: [JSONValue] {
    let root = self.root
    return [.members(["root": .string(root.kind), "name": .string(root.name)])] + steps.map(\.json)
  }
}
