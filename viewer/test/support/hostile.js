// A report whose names are markup, very long, right to left, or pictures.

import { ReportBuilder } from "./encode.js";

export const HOSTILE = ["</script><script>globalThis.hacked = 1</script>", "<img src=x onerror=\"globalThis.hacked = 1\">", "W".repeat(4096), "\u202eלשון\u202c", "😀👩‍👩‍👧‍👦.🏳️‍🌈", "a`b|c\n\td&amp;", "__proto__", "constructor"];

export function hostileReport() {
  const report = new ReportBuilder();
  const types = HOSTILE.map((name) => report.type(name, name));
  const stack = report.stack(...HOSTILE.map((name) => [name, `/a/${name}`, 3, name, 2]));
  const nodes = types.map((type) => report.node({ type, stack, bytes: 64 }));
  HOSTILE.forEach((name, at) => {
    report.edge(nodes[at], nodes[(at + 1) % nodes.length], name, { via: name });
    report.root(0, name, nodes[0]);
  });
  const lost = types.map((type) => report.node({ type, stack }));
  HOSTILE.forEach((name, at) => report.edge(lost[at], lost[(at + 1) % lost.length], name));
  const [name] = HOSTILE;
  report.summary = {
    title: name, answer: name,
    findings: HOSTILE.map((type, at) => ({
      kind: "leak", fingerprint: "000000000000", type, count: 1, bytes: 48, retainedBytes: 48,
      cycle: [{ type, field: type, strength: "strong", provenance: "reflected" }], cut: { edge: `${type} -> ${type}`, frees: { count: 1, bytes: 48 }, advice: type },
      allocation: [], addresses: [], graph: { representative: lost[at], members: [lost[at]], memberCount: 1, cycle: [], cuts: [] },
    })),
    tasks: [{ state: "suspended", kind: "unstructured", count: 1, cancelled: 0, leaked: 0, own: { count: 1, bytes: 1 }, retained: { count: 1, bytes: 1 }, ids: [1], rows: [], frames: [{ function: name, file: name }], suspendedIn: { function: name } }],
    generations: [{ generation: 0, name, count: 1, bytes: 1 }],
  };
  return report;
}
