// Snapshot+TextDump: everything that a snapshot holds, as lines of text.

internal import GraphPrimitives

extension Snapshot {
  /// All tables as text, the same for equal snapshots: for tests, fixtures and bug reports.
  ///
  /// Each node is followed by its edges; texts are quoted, numbers of places are hexadecimal.
  ///
  /// - Precondition: the snapshot is valid.
  /// - Complexity: O(*t*) for *t* characters, all of them in memory.
  public func textDump() -> String {
    var lines: [String] = []
    lines.append(
      "process \(process.pid) \(_quoted(process.executable)) mark \(_quoted(process.mark)) source "
        + "\(_quoted(process.source)) agent \(process.hasAgent)\(process.isPartial ? " partial" : "") stacks \(_quoted(process.stackMode)) "
        + "run \(_hexadecimal(process.runIdentity))")
    for (name, bytes) in process.memory.sorted(by: { $0.key < $1.key }) {
      lines.append("  memory \(_quoted(name)) \(bytes)")
    }
    for module in modules {
      lines.append(
        "module \(_quoted(module.path)) build \(_quoted(module.buildID)) bias "
          + "\(_hexadecimal(module.bias)) at \(_hexadecimal(module.start))..<\(_hexadecimal(module.end))"
      )
    }
    for (row, thread) in threads.enumerated() {
      lines.append(
        "thread \(row) id \(thread.id) \(_quoted(thread.name)) stack pointer "
          + "\(_hexadecimal(thread.stackPointer)) pc \(_hexadecimal(thread.pc))")
    }
    for mark in marks {
      lines.append("mark \(_quoted(mark.name)) generation \(mark.generation) time \(mark.time)")
    }
    for diagnostic in diagnostics {
      lines.append("diagnostic \(_quoted(diagnostic.text)) \(diagnostic.count)")
    }
    for row in 0..<strings.count {
      lines.append("string \(row) \(_quoted(strings[UInt32(row)]))")
    }
    for row in 0..<types.count {
      lines.append(
        "type \(row) \(_quoted(strings[types.name[row]])) module "
          + "\(_quoted(strings[types.module[row]]))")
    }
    for row in 0..<labels.count { lines.append("label \(row)\(_label(UInt32(row)))") }
    for row in 0..<stacks.count {
      lines.append("stack \(row) caller \(stacks.parent[row]) pc \(_hexadecimal(stacks.pc[row]))")
    }
    for row in 0..<nodes.count {
      lines.append(_node(row))
      for edge in Int(edges.firstEdge[row])..<Int(edges.firstEdge[row + 1]) {
        lines.append(
          "  -> \(edges.target[edge])\(_label(edges.label[edge])) \(_info(edges.info[edge]))")
      }
    }
    for row in 0..<roots.count {
      let kind = RootKind(rawValue: roots.kind[row]).map { "\($0)" } ?? "?"
      let thread = roots.thread[row] == UInt32.max ? "" : " thread \(roots.thread[row])"
      lines.append(
        "root \(kind) -> \(roots.target[row])\(_label(roots.label[row])) \(_info(roots.info[row])) at "
          + "\(_hexadecimal(roots.address[row])) pc \(_hexadecimal(roots.pc[row]))\(thread)")
    }
    for row in 0..<tasks.count {
      let info = TaskInfo(rawValue: tasks.info[row])
      let parent = tasks.parent[row] == Tasks.noParent ? "" : " parent \(tasks.parent[row])"
      lines.append(
        "task \(row) \(tasks.id[row]) at \(_hexadecimal(tasks.address[row])) node \(tasks.node[row]) "
          + "\(info.kind) \(info.state)\(info.isCancelled ? " cancelled" : "") priority "
          + "\(info.priority)\(parent) suspended at \(tasks.suspendedAt[row])")
    }
    for row in 0..<storage.rowCount {
      let text = storage.text[row] == 0 ? "" : " text \(storage.text[row])"
      lines.append(
        "storage \(row) node \(storage.node[row]) \(storage.count[row]) of \(storage.capacity[row])\(text)"
      )
    }
    if let sampling {
      lines.append("sampling interval \(sampling.interval)")
      for row in sampling.node.indices {
        lines.append("sample \(row) node \(sampling.node[row]) \(sampling.bytes[row]) bytes")
      }
    }
    for row in 0..<fields.rowCount {
      let declaration =
        FieldDeclaration(rawValue: fields.declaration[row]).map { "\($0)" } ?? "?"
      lines.append(
        "field \(row) of type \(fields.type[row]) \(_quoted(strings[fields.name[row]])) \(declaration)"
      )
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func _node(_ row: Int) -> String {
    let kind = NodeKind(rawValue: nodes.kind[row]).map { "\($0)" } ?? "?"
    let state = NodeState(rawValue: nodes.state[row]).map { "\($0)" } ?? "?"
    let strong =
      nodes.strongCount[row] == Nodes.uncounted ? "uncounted" : "strong \(nodes.strongCount[row])"
    let name = nodeNames[NodeIndex(row)].map { " name " + _quoted(strings[$0]) } ?? ""
    return
      "node \(row) \(_hexadecimal(nodes.address[row])) \(nodes.bytes(row)) bytes \(kind) \(state) type "
      + "\(nodes.type[row]) stack \(nodes.stack[row]) generation \(nodes.generation[row]) \(strong) "
      + "unowned \(nodes.unownedCount[row]) weak \(nodes.weakCount[row])\(name)"
  }

  /// A label with a space before it, or nothing for the label of unnamed edges.
  private func _label(_ row: UInt32) -> String {
    let name = strings[labels.name[Int(row)]]
    let index = labels.index[Int(row)]
    let function = labels.function[Int(row)]
    var text = ""
    switch index {
    case Labels.noIndex: break
    case Labels.anyIndex: text += " [_]"
    default: text += " [\(index)]"
    }
    if !name.isEmpty { text += " " + _quoted(name) }
    if function != 0 { text += " function " + _hexadecimal(function) }
    return text
  }

  private func _info(_ rawValue: UInt8) -> String {
    let info = EdgeInfo(rawValue: rawValue)
    return "\(info.strength) \(info.provenance)"
  }
}

private func _hexadecimal(_ number: UInt64) -> String { "0x" + String(number, radix: 16) }

/// A text in quotation marks, on one line.
private func _quoted(_ text: String) -> String {
  var quoted = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": quoted += "\\\""
    case "\\": quoted += "\\\\"
    case "\n": quoted += "\\n"
    case _ where scalar.value < 0x20 || scalar.value == 0x7F:
      quoted += "\\u{\(String(scalar.value, radix: 16))}"
    default: quoted.unicodeScalars.append(scalar)
    }
  }
  return quoted + "\""
}
