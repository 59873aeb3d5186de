// The report as views ask for it: names, fields, sizes and ways of single objects.

import { stringReader } from "./strings.js";
import { HOLDS_MASK, sourceIndex, sourceOf } from "../graph/csr.js";
import { KIND, isCounted, isFolded } from "../graph/costs.js";
import { foundHolders, freedByCutting } from "../graph/release.js";

export const STRENGTHS = ["strong", "weak", "unowned", "unmanaged"];
export const PROVENANCES = ["declared", "reflected", "unsure"];
export const ROOT_KINDS = ["global", "stack", "register", "thread-local", "task", "declared root", "runtime", "mapped memory"];
/** The kinds of roots that are words which may or may not be references. */
const MERE_WORDS = new Set(["stack", "register", "thread-local", "mapped memory"].map((kind) => ROOT_KINDS.indexOf(kind)));
export const TASK_STATES = ["suspended", "enqueued", "running", "complete"];
export const TASK_KINDS = ["unstructured", "async let", "child of a group"];

/** Bits of `node.flags`. */
export const FLAG = { leaked: 4, born: 8, unattributed: 16, heldOutside: 32 };

/**
 * Everything about one report. Never changes; all methods are fast enough for one click unless they say otherwise.
 */
export class Model {
  /**
   * @param {any} summary
   * @param {import("./tables.js").Tables} tables
   * @param {import("./analysis.js").Analysis} analysis
   */
  constructor(summary, tables, analysis) {
    this.summary = summary;
    this.tables = tables;
    this.analysis = analysis;
    this.node = tables.node;
    this.nodeCount = tables.nodeCount;
    /** The node that stands for the world outside the heap. */
    this.outside = tables.nodeCount;
    this.firstRoot = tables.edge.first[tables.nodeCount];
    /** @type {import("../graph/csr.js").Graph} */
    this.graph = {
      nodeCount: tables.nodeCount,
      first: tables.edge.first,
      target: tables.edge.target,
      info: tables.edge.info,
      ...analysis.back,
    };
    this._sources = sourceIndex(this.graph);
    this.retained = analysis.retained;
    this.ways = analysis.ways;
    /** The text in a row of the string table. */
    this.text = stringReader(tables.strings);
    /** @type {Map<string, number> | null} */
    this._reportRows = null;
    /** For each row of labels the first one that differs at most in its index. */
    this.labelAlike = alikeLabels(tables.label);
    /** @type {Map<number, number> | null} */
    this._taskByNode = null;
    /** @type {Map<number, number>} */
    this._paths = new Map();
  }

  /**
   * What a node is called.
   *
   * @param {number} node
   */
  typeName(node) {
    return node >= this.nodeCount ? "outside" : this.text(this.tables.type.name[this.node.type[node]]);
  }

  /**
   * The name under which reports count a node.
   *
   * @param {number} node
   */
  reportName(node) {
    return this.text(this.tables.report.name[this.reportRow(node)]);
  }

  /** @param {number} node */
  reportRow(node) {
    return this.tables.type.report[this.node.type[node]];
  }

  /**
   * The row of a reported type; -1 where there is none of that name.
   *
   * @param {string} name
   */
  reportRowOf(name) {
    if (!this._reportRows) {
      this._reportRows = new Map();
      const { name: names } = this.tables.report;
      for (let row = 0; row < names.length; row++) this._reportRows.set(this.text(names[row]), row);
    }
    return this._reportRows.get(name) ?? -1;
  }

  /** @param {number} node */
  moduleName(node) {
    return this.text(this.tables.type.module[this.node.type[node]]);
  }

  /**
   * Whether a node's type is the program's own.
   *
   * @param {number} node
   */
  isOwn(node) {
    return (this.tables.type.flags[this.node.type[node]] & 1) !== 0;
  }

  /** @param {number} node */
  isLeaked(node) {
    return (this.node.flags[node] & FLAG.leaked) !== 0;
  }

  /** @param {number} node */
  isFolded(node) {
    return node < this.nodeCount && isFolded(this.node.kind[node]);
  }

  /**
   * The node that starts at an address or has it within; -1 for none. Time O(log V).
   *
   * @param {number} address
   */
  nodeAt(address) {
    const { address: starts, bytes } = this.node;
    let low = 0;
    let high = this.nodeCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (starts[middle] <= address) low = middle + 1;
      else high = middle;
    }
    const node = low - 1;
    return node >= 0 && (address === starts[node] || address < starts[node] + bytes[node]) ? node : -1;
  }

  /**
   * The generation's name; empty where there are none.
   *
   * @param {number} generation
   */
  generationName(generation) {
    const { generations } = this.summary;
    return generations.find((/** @type {any} */ entry) => entry.generation === generation)?.name ?? "";
  }

  /** @param {number} slot */
  source(slot) {
    return sourceOf(this.graph, this._sources, slot);
  }

  /**
   * Whether a reference keeps its target alive.
   *
   * @param {number} slot
   */
  holds(slot) {
    return (this.graph.info[slot] & HOLDS_MASK) === 0;
  }

  /** @param {number} slot */
  isRoot(slot) {
    return slot >= this.firstRoot;
  }

  /** @param {number} slot */
  strength(slot) {
    return this.graph.info[slot] & 15;
  }

  /**
   * How a reference is known. What a word of a variable, of a task or of the runtime refers to is its own; a word of a stack, a
   * register, thread-local or mapped memory only may be a reference.
   *
   * @param {number} slot
   */
  provenance(slot) {
    const provenance = (this.graph.info[slot] >> 4) & 7;
    return this.isRoot(slot) && !MERE_WORDS.has(this.tables.root.kind[slot - this.firstRoot]) ? Math.min(provenance, 1) : provenance;
  }

  /**
   * A number that is the same for references by the same field, whatever their index; of roots for those of one name.
   *
   * @param {number} slot
   */
  labelKey(slot) {
    return this.isRoot(slot) ? this.tables.root.name[slot - this.firstRoot] : this.labelAlike[this.tables.edge.label[slot]];
  }

  /**
   * A number for a path of labels, the same for the same path, so that no text has to be made of it. It is no row of labels.
   *
   * @param {number} before the path without its last label: a number of this kind, or of `labelKey`; of a root one below zero
   * @param {number} label
   */
  pathKey(before, label) {
    const labels = this.labelAlike.length;
    const path = before * labels + label;
    let key = this._paths.get(path);
    if (key === undefined) {
      // Roots are told apart from labels by their sign, which is lost here: rows of either are below what these begin with.
      key = Math.max(labels, this.tables.strings.offsets.length) + this._paths.size;
      this._paths.set(path, key);
    }
    return key;
  }

  /**
   * The path of fields of a reference: `client.retry`, `[3].handler`. Of a root its name.
   *
   * @param {number} slot
   */
  field(slot) {
    return this.isRoot(slot) ? this.rootName(slot) : this.labelText(this.tables.edge.label[slot], false);
  }

  /**
   * The same with every index as `[_]`.
   *
   * @param {number} slot
   */
  foldedField(slot) {
    return this.isRoot(slot) ? this.rootName(slot) : this.labelText(this.tables.edge.label[slot], true);
  }

  /**
   * @param {number} row
   * @param {boolean} isAny
   */
  labelText(row, isAny) {
    const { label } = this.tables;
    const name = this.text(label.name[row]);
    const index = label.index[row];
    if (index === 0) return name;
    const element = index === 1 || isAny ? "[_]" : `[${index - 2}]`;
    return name === "" || name.startsWith("[") ? element + name : `${element}.${name}`;
  }

  /**
   * The function that a closure value goes through; empty for none.
   *
   * @param {number} slot
   */
  via(slot) {
    return this.isRoot(slot) ? "" : this.text(this.tables.label.via[this.tables.edge.label[slot]]);
  }

  /** @param {number} slot */
  rootName(slot) {
    return this.text(this.tables.root.name[slot - this.firstRoot]) || this.rootKind(slot);
  }

  /** @param {number} slot */
  rootKind(slot) {
    return ROOT_KINDS[this.tables.root.kind[slot - this.firstRoot]] ?? "root";
  }

  /**
   * How many holders a node has: found ones, or more where its count says so.
   *
   * @param {number} node
   */
  holders(node) {
    const kind = this.node.kind[node];
    const count = this.node.strong[node];
    const found = foundHolders(this.graph, node);
    // An object that should have a count and has none is immortal, and held from outside for that reason.
    if (count === 0) return isCounted(kind) && (this.node.flags[node] & FLAG.heldOutside) !== 0 ? Infinity : found;
    return Math.max(found, count - 1);
  }

  /**
   * What the runtime would free if some references were gone.
   *
   * @param {Iterable<number>} slots
   */
  freed(slots) {
    const nodes = freedByCutting(this.graph, (node) => this.holders(node), slots);
    let bytes = 0;
    for (const node of nodes) bytes += this.node.bytes[node];
    return { nodes, count: nodes.length, bytes };
  }

  /**
   * The frames of a stack, innermost first.
   *
   * @param {number} row
   */
  frames(row) {
    const frames = [];
    for (; row !== 0; row = this.tables.stack.parent[row]) frames.push(this.frame(this.tables.stack.frame[row]));
    return frames;
  }

  /** @param {number} row */
  frame(row) {
    const { frame } = this.tables;
    return {
      row,
      function: this.text(frame.function[row]),
      file: this.text(frame.file[row]),
      line: frame.line[row],
      module: this.text(frame.module[row]),
      isInlined: (frame.flags[row] & 1) !== 0,
      isOwn: (frame.flags[row] & 2) !== 0,
      isAllocator: (frame.flags[row] & 4) !== 0,
    };
  }

  /**
   * The row in the table of tasks of a node that is a task; -1 for others.
   *
   * @param {number} node
   */
  taskOf(node) {
    if (!this._taskByNode) {
      this._taskByNode = new Map();
      this.tables.task.node.forEach((owner, row) => {
        if (this.node.kind[owner] === KIND.task && !this._taskByNode?.has(owner)) this._taskByNode?.set(owner, row);
      });
    }
    return this._taskByNode.get(node) ?? -1;
  }
}

/**
 * For each label the first one with the same name and function that is an element, or none, as well. Time O(labels).
 *
 * @param {import("./tables.js").Tables["label"]} label
 */
function alikeLabels(label) {
  const alike = new Uint32Array(label.name.length);
  /** @type {Map<string, number>} */
  const first = new Map();
  for (let row = 0; row < alike.length; row++) {
    const key = `${label.name[row]} ${label.via[row]} ${label.index[row] === 0}`;
    const known = first.get(key);
    if (known === undefined) first.set(key, row);
    alike[row] = known ?? row;
  }
  return alike;
}
