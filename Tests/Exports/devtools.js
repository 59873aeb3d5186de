// Runs within a page of Chrome's developer tools: loads heap snapshots with their own parser and answers questions.

async texts => {
  const {HeapSnapshot, HeapSnapshotLoader} =
      await import('/devtools/entrypoints/heap_snapshot_worker/heap_snapshot_worker.js');

  // A loader reports its progress to the worker that it is in.
  const load = async text => {
    const loader = new HeapSnapshotLoader.HeapSnapshotLoader({sendEvent: () => {}});
    for (let at = 0; at < text.length; at += 1 << 20) loader.write(text.slice(at, at + (1 << 20)));
    loader.close();
    const channel = new MessageChannel();
    new HeapSnapshot.SecondaryInitManager(channel.port2);
    return loader.buildSnapshot(channel.port1);
  };
  const snapshots = [];
  for (const text of texts) snapshots.push(await load(text));
  const last = snapshots[snapshots.length - 1];

  const nodes = [];
  for (const iterator = last.allNodes(); iterator.hasNext(); iterator.next()) {
    const node = iterator.item();
    const retainers = [];
    for (const edges = node.retainers(); edges.hasNext(); edges.next()) {
      const edge = edges.item();
      retainers.push([edge.node().name(), edge.name(), edge.type(), edge.node().id()]);
    }
    const stack = last.allocationStack(node.nodeIndex);
    nodes.push({
      name: node.name(), className: node.className(), type: node.type(), id: node.id(), self: node.selfSize(),
      retained: node.retainedSize(), distance: node.distance(), retainers,
      stack: stack && stack.map(frame => [frame.functionName, frame.scriptName, frame.line]),
    });
  }
  // As the panel does it for its Comparison: the classes of the first snapshot, held against the second.
  const classes = {};
  const base = snapshots[0];
  const difference = last.calculateSnapshotDiff('base', base.aggregatesForDiff(last.interfaceDefinitions()));
  for (const entry of Object.values(difference)) {
    classes[entry.name] = [entry.addedCount, entry.removedCount];
  }
  const tops = last.allocationTracesTops();
  return {nodes, classes, tops: tops.map(top => [top.name, top.liveCount, top.liveSize])};
}
