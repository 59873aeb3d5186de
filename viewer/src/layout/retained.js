// The dominator tree as a picture has it: objects of the same type with the same way of types above them are one node.

import { number } from "../text/format.js";

/** What some objects retain: a node of the picture. */
class RetainedGroup {
  /**
   * @param {import("../data/model.js").Model} model
   * @param {ArrayLike<number>} members objects of one type, or the outside alone
   * @param {number} row the reported type; -1 for the outside
   * @param {boolean} isMerged whether objects of a type are one node
   * @param {RetainedGroup | null} parent
   */
  constructor(model, members, row, isMerged, parent) {
    this.model = model;
    this.members = members;
    this.row = row;
    this.isMerged = isMerged;
    this.parent = parent;
    this.value = 0;
    this.objects = 0;
    this.own = 0;
    const { bytes, counts } = model.retained;
    for (let at = 0; at < members.length; at++) {
      this.value += bytes[members[at]];
      this.objects += counts[members[at]];
      if (members[at] < model.nodeCount) this.own += model.node.bytes[members[at]];
    }
    /** @type {RetainedGroup[] | null} */
    this._children = null;
  }

  /** Those dominated by the members, largest first. Time O(children), once. */
  children() {
    return (this._children ??= this.isMerged ? this._merged() : this._single());
  }

  _merged() {
    const { first, child } = this.model.analysis.dominated;
    const { type } = this.model.node;
    const { report } = this.model.tables.type;
    /** @type {Map<number, number[]>} */
    const groups = new Map();
    for (let at = 0; at < this.members.length; at++) {
      const member = this.members[at];
      for (let place = first[member]; place < first[member + 1]; place++) {
        const row = report[type[child[place]]];
        const group = groups.get(row);
        if (group) group.push(child[place]);
        else groups.set(row, [child[place]]);
      }
    }
    return [...groups]
      .map(([row, members]) => new RetainedGroup(this.model, members, row, true, this))
      .sort((a, b) => b.value - a.value || a.row - b.row);
  }

  _single() {
    const { type } = this.model.node;
    const { report } = this.model.tables.type;
    const children = [];
    for (let at = 0; at < this.members.length; at++) {
      // No more than are ever drawn; the rest shows as what is left of their parent.
      for (const child of largestDominated(this.model, this.members[at], 5000)) {
        children.push(new RetainedGroup(this.model, [child], report[type[child]], false, this));
      }
    }
    return children;
  }

  get label() {
    if (this.row < 0) return "everything";
    const name = this.members.length === 1 ? this.model.typeName(this.members[0]) : this.model.text(this.model.tables.report.name[this.row]);
    return this.members.length === 1 ? name : `${number(this.members.length)} × ${name}`;
  }
}

/**
 * The nodes that a node dominates immediately, those that retain most first.
 *
 * Time O(n log n) of them.
 *
 * @param {import("../data/model.js").Model} model
 * @param {number} node
 * @param {number} most how many at most
 */
export function largestDominated(model, node, most) {
  const { first, child } = model.analysis.dominated;
  const { bytes } = model.retained;
  const nodes = child.slice(first[node], first[node + 1]);
  return nodes.sort((a, b) => bytes[b] - bytes[a] || a - b).subarray(0, most);
}

/**
 * The whole tree, or what one object retains.
 *
 * @param {import("../data/model.js").Model} model
 * @param {boolean} isMerged
 * @param {number} [node] the outside for everything
 */
export function retainedTree(model, isMerged, node = model.outside) {
  const row = node === model.outside ? -1 : model.reportRow(node);
  return new RetainedGroup(model, [node], row, isMerged, null);
}
