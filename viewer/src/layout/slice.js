// Of a large graph the part that tells who retains some objects, or what they refer to: small enough to be drawn.

import { namesOf, referenceCount, stepsAlong, stepsAt, wayFromRoot } from "./steps.js";

/**
 * A box stands for one object, for several alike, for a root, for steps of a long way that are left out, or for what
 * is folded.
 *
 * @typedef {object} Box
 * @property {"objects" | "root" | "gap" | "more"} kind
 * @property {number[]} members nodes; of a root box slots
 * @property {number} count how many objects, roots, steps or references it stands for
 * @property {number} column steps to the target
 * @property {boolean} isOnWay whether it lies on the way that is shown first
 * @property {boolean} isDominator whether every way from a root goes through it
 * @property {number} of for "more" the box whose references are folded, for others -1
 *
 * @typedef {object} Link this box, by this field, holds that one
 * @property {number} from
 * @property {number} to
 * @property {string} field
 * @property {number} strength the weakest of the references
 * @property {number} provenance the least sure of them
 * @property {string} via the function that the reference goes through
 * @property {number} count references
 * @property {number[]} firstSlots the references that leave the source; at most `SCAN`
 * @property {number[]} lastSlots the references that reach the target; the same where no storage lies between
 * @property {boolean} isInCycle
 *
 * @typedef {object} Slice
 * @property {Box[]} boxes the target first
 * @property {Link[]} links
 * @property {boolean} isCapped whether more boxes were wanted than there may be
 *
 * @typedef {object} SliceOptions
 * @property {boolean} [isOutgoing] what the targets refer to, instead of who refers to them
 * @property {boolean} [isWithWeak] weak, unowned and unmanaged references as well
 * @property {Set<number>} [cut] slots that are taken for gone
 * @property {Map<number, number>} [opened] for a box, by its first member, how many more groups to show
 * @property {number} [cap] how many boxes there may be
 *
 * @typedef {object} Group references alike, to or from one box
 * @property {import("./steps.js").Step[]} steps
 * @property {number} rank less comes first
 * @property {boolean} isOnWay
 */

/** How many references of the subject are looked at, as long as nobody asks for more of it. */
export const SCAN = 16000;

/** How many of each other box: their groups are told, and how many are not looked at. */
const SCAN_BESIDE = 1000;

/** How many groups of references are shown of one box. */
const FAN = 4;

/** How many boxes there may be. */
const CAP = 30;

/** A longer way is shown with a gap: so many steps near the target, so many objects at its beginning. */
const LONG_WAY = 14;
const NEAR_STEPS = 9;
const FAR_NODES = 2;

/**
 * The part of the graph around some nodes.
 *
 * The way from a root is always there, then comes what makes the least detour. References from objects of the same
 * type by the same field are one box. Storage and boxes of variables are folded into the field that holds them.
 *
 * Time O(`SCAN` + cap · `SCAN_BESIDE`).
 *
 * @param {import("../data/model.js").Model} model
 * @param {number[]} targets
 * @param {SliceOptions} [options]
 * @returns {Slice}
 */
export function slice(model, targets, options = {}) {
  return new Slicing(model, targets, options).run();
}

/** A slice while it is made. */
class Slicing {
  /**
   * @param {import("../data/model.js").Model} model
   * @param {number[]} targets
   * @param {SliceOptions} options
   */
  constructor(model, targets, options) {
    this.model = model;
    this.targets = targets;
    this.options = options;
    this.opened = options.opened ?? new Map();
    this.cap = options.cap ?? CAP;
    for (const more of this.opened.values()) this.cap += more;
    /** @type {Box[]} */
    this.boxes = [];
    /** @type {Map<number, number>} */
    this.boxByNode = new Map();
    /** @type {Map<string, Link>} */
    this.links = new Map();
    /** @type {{box: number, cost: number}[]} */
    this.queue = [];
    this.isCapped = false;
    /** The nodes of the way that must be there, and its root's slot. @type {Set<number>} */
    this.onWay = new Set();
    this.rootSlot = -1;
    /** @type {{near: number, next: number, far: number, box: number} | null} */
    this.gap = null;
  }

  run() {
    this.addBox({ members: this.targets.slice(0, SCAN), count: this.targets.length, isOnWay: true }, 0);
    if (!this.options.isOutgoing) this.layWay();
    while (this.queue.length > 0) {
      let best = 0;
      for (let at = 1; at < this.queue.length; at++) if (this.queue[at].cost < this.queue[best].cost) best = at;
      const [{ box, cost }] = this.queue.splice(best, 1);
      this.expand(box, cost);
    }
    this.closeGap();
    const links = [...this.links.values()];
    setColumns(this.boxes, links, this.options.isOutgoing === true);
    markCycles(this.boxes, links);
    this.markDominators();
    return { boxes: this.boxes, links, isCapped: this.isCapped };
  }

  /** Says which nodes must be there: those of the way from a root, but for the middle of a long one. */
  layWay() {
    const slots = wayFromRoot(this.model, this.targets[0], this.options.cut);
    if (!slots) return;
    const nodes = stepsAlong(this.model, slots).map((step) => step.node);
    if (nodes[0] === this.model.outside) {
      this.rootSlot = slots[0];
      nodes.shift();
    }
    // What is left goes from the root's target on; the target itself is no holder.
    if (nodes.length > LONG_WAY) {
      const near = nodes.slice(nodes.length - NEAR_STEPS);
      const far = nodes.slice(0, FAR_NODES);
      this.gap = {
        near: near[0],
        next: nodes[nodes.length - NEAR_STEPS - 1],
        far: far[FAR_NODES - 1],
        box: this.addBox({ kind: "gap", count: nodes.length - NEAR_STEPS - FAR_NODES, isOnWay: true }, 0),
      };
      this.onWay = new Set([...near, ...far]);
      for (const node of far) this.addBox({ members: [node], count: 1, isOnWay: true }, 1e9);
    } else {
      this.onWay = new Set(nodes);
    }
  }

  /** Joins the gap to what lies on both sides of it. */
  closeGap() {
    if (!this.gap) return;
    const near = this.boxByNode.get(this.gap.near);
    const far = this.boxByNode.get(this.gap.far);
    if (near !== undefined) this.addLink(this.gap.box, near, "", "", 0, 0, "");
    if (far !== undefined) this.addLink(far, this.gap.box, "", "", 0, 0, "");
  }

  /**
   * @param {Partial<Box>} about
   * @param {number} cost
   */
  addBox(about, cost) {
    const number = this.boxes.length;
    /** @type {Box} */
    const box = { kind: "objects", members: [], count: 0, column: 0, isOnWay: false, isDominator: false, of: -1, ...about };
    this.boxes.push(box);
    if (box.kind === "objects") {
      for (const node of box.members) this.boxByNode.set(node, number);
      this.queue.push({ box: number, cost });
    }
    return number;
  }

  /**
   * Adds what leads to a box, or what it leads to.
   *
   * @param {number} number
   * @param {number} cost
   */
  expand(number, cost) {
    const { groups, unseen } = this.groupsAt(number);
    const box = this.boxes[number];
    const fan = FAN + (this.opened.get(box.members[0]) ?? 0);
    let shown = 0;
    let hidden = unseen;
    for (const group of groups) {
      const steps = this.linkKnown(number, group.steps);
      if (steps.length === 0) continue;
      const isForced = group.isOnWay || (number === 0 && shown === 0);
      if (!isForced && (shown >= fan || this.boxes.length >= this.cap)) {
        if (shown < fan) this.isCapped = true;
        hidden += steps.length;
        continue;
      }
      shown++;
      const members = this.membersOf(steps);
      const next = this.addBox(
        { kind: steps[0].isRoot ? "root" : "objects", members, count: members.length, isOnWay: group.isOnWay },
        group.isOnWay ? -1 : cost + 16 + group.rank,
      );
      this.link(next, number, steps);
    }
    if (hidden > 0) {
      const more = this.addBox({ kind: "more", of: number, members: [box.members[0]], count: hidden }, 0);
      this.addLink(more, number, "", "", 0, 0, "");
    }
  }

  /**
   * Draws those steps whose other end is a box already.
   *
   * @param {number} number
   * @param {import("./steps.js").Step[]} steps of one group
   * @returns {import("./steps.js").Step[]} the others
   */
  linkKnown(number, steps) {
    if (!steps.some((step) => !step.isRoot && this.boxByNode.has(step.node))) return steps;
    /** @type {Map<number, import("./steps.js").Step[]>} */
    const known = new Map();
    /** @type {import("./steps.js").Step[]} */
    const others = [];
    for (const step of steps) {
      const box = step.isRoot ? undefined : this.boxByNode.get(step.node);
      const found = box === undefined ? others : known.get(box);
      if (found) found.push(step);
      else if (box !== undefined) known.set(box, [step]);
    }
    for (const [box, found] of known) this.link(box, number, found);
    return others;
  }

  /**
   * What a box stands for: the one on the way first, as it stands for the others.
   *
   * @param {import("./steps.js").Step[]} steps
   */
  membersOf(steps) {
    const members = new Set(steps.map((step) => (step.isRoot ? step.slots[0] : step.node)));
    const isOnWay = (/** @type {number} */ member) => (steps[0].isRoot ? member === this.rootSlot : this.onWay.has(member));
    return [...new Set([...[...members].filter(isOnWay), ...members])];
  }

  /**
   * The references of a box in groups, those to show first.
   *
   * @param {number} number
   * @returns {{groups: Group[], unseen: number}} `unseen` references were not looked at
   */
  groupsAt(number) {
    const { isOutgoing = false, isWithWeak, cut } = this.options;
    const box = this.boxes[number];
    const limit = this.opened.has(box.members[0]) ? Infinity : number === 0 ? SCAN : SCAN_BESIDE;
    /** @type {Map<number, Group>} */
    const groups = new Map();
    let looked = 0;
    let all = 0;
    for (const member of box.members) {
      all += referenceCount(this.model, member, isOutgoing);
      if (looked >= limit) continue;
      const steps = stepsAt(this.model, member, { isOutgoing, isWithWeak, cut, limit: limit - looked });
      looked += steps.length;
      for (const step of steps) {
        if (this.gap && member === this.gap.near && step.node === this.gap.next) continue;
        const key = this.keyOf(step);
        const rank = this.rankOf(step);
        let group = groups.get(key);
        // Most groups have one step, so one is made with room for no more: this is most of what a click leaves behind.
        if (!group) groups.set(key, (group = { steps: [step], rank, isOnWay: false }));
        else group.steps.push(step);
        if (rank < group.rank) group.rank = rank;
        if (step.isRoot ? step.slots[0] === this.rootSlot : this.onWay.has(step.node)) group.isOnWay = true;
      }
    }
    const sorted = [...groups.values()].sort(
      (a, b) =>
        Number(b.isOnWay) - Number(a.isOnWay) || a.rank - b.rank || b.steps.length - a.steps.length || a.steps[0].slots[0] - b.steps[0].slots[0],
    );
    return { groups: sorted, unseen: looked >= limit ? Math.max(0, all - looked) : 0 };
  }

  /**
   * What is the same for steps of one group: types, fields and strength.
   *
   * @param {import("./steps.js").Step} step
   * @returns {number} below zero for roots
   */
  keyOf({ node, isRoot, slots, strength }) {
    const { model } = this;
    let path = model.labelKey(slots[0]);
    for (let at = 1; at < slots.length; at++) path = model.pathKey(isRoot && at === 1 ? -1 - path : path, model.labelKey(slots[at]));
    // Small numbers, since an engine makes an object of a large one.
    return isRoot ? -1 - (path * 4 + strength) : (path * model.tables.type.name.length + model.node.type[node]) * 4 + strength;
  }

  /**
   * What comes first, the least: what is nearest to a root; of what an object refers to that which retains most.
   *
   * @param {import("./steps.js").Step} step
   */
  rankOf(step) {
    if (this.options.isOutgoing) return -this.model.retained.bytes[step.node];
    return step.isRoot ? 0 : this.model.ways.costByNode[step.node];
  }

  /**
   * Draws references alike between two boxes as one.
   *
   * @param {number} other
   * @param {number} number
   * @param {import("./steps.js").Step[]} steps
   */
  link(other, number, steps) {
    const [first] = steps;
    const { label } = this.model.tables.edge;
    const { field, folded, via } = namesOf(this.model, first);
    const isSame = steps.every((step) => step.slots.every((slot, at) => label[slot] === label[first.slots[at]]));
    const provenance = steps.reduce((least, step) => Math.max(least, step.provenance), 0);
    const link = this.addLink(other, number, isSame ? field : folded, folded, first.strength, provenance, via);
    link.count += steps.length;
    for (const step of steps) {
      if (link.firstSlots.length >= SCAN) break;
      link.firstSlots.push(step.slots[0]);
      link.lastSlots.push(step.slots[step.slots.length - 1]);
    }
  }

  /**
   * @param {number} other
   * @param {number} number
   * @param {string} field
   * @param {string} folded
   * @param {number} strength
   * @param {number} provenance
   * @param {string} via
   */
  addLink(other, number, field, folded, strength, provenance, via) {
    // A gap lies between what it is told of, so its links name both ends themselves.
    const [from, to] = this.options.isOutgoing ? [number, other] : [other, number];
    const key = `${from} ${to} ${folded}\0${via}\0${strength}`;
    let link = this.links.get(key);
    if (!link) {
      link = { from, to, field, strength, provenance, via, count: 0, firstSlots: [], lastSlots: [], isInCycle: false };
      this.links.set(key, link);
    }
    if (link.field !== field) link.field = folded;
    link.provenance = Math.max(link.provenance, provenance);
    return link;
  }

  markDominators() {
    const { isOutgoing, cut } = this.options;
    if (isOutgoing || this.targets.length !== 1 || cut?.size) return;
    const { dominatorByNode } = this.model.analysis;
    let left = 1000;
    for (let node = dominatorByNode[this.targets[0]]; node !== this.model.outside && left-- > 0; node = dominatorByNode[node]) {
      const box = this.boxes[this.boxByNode.get(node) ?? -1];
      if (box?.count === 1) box.isDominator = true;
    }
  }
}

/**
 * The columns: the least number of links to the target.
 *
 * @param {Box[]} boxes
 * @param {Link[]} links
 * @param {boolean} isOutgoing
 */
function setColumns(boxes, links, isOutgoing) {
  /** @type {number[][]} */
  const next = boxes.map(() => []);
  for (const { from, to } of links) (isOutgoing ? next[from].push(to) : next[to].push(from));
  const seen = new Set([0]);
  for (const at of seen) {
    for (const other of next[at]) {
      if (seen.has(other)) continue;
      boxes[other].column = boxes[at].column + 1;
      seen.add(other);
    }
  }
}

/**
 * Marks the links between boxes that lead to each other. Time O(boxes · links).
 *
 * @param {Box[]} boxes
 * @param {Link[]} links
 */
function markCycles(boxes, links) {
  const reached = boxes.map((_, start) => {
    const seen = new Set([start]);
    for (const at of seen) for (const link of links) if (link.from === at && link.strength === 0) seen.add(link.to);
    return seen;
  });
  for (const link of links) {
    link.isInCycle = link.strength === 0 && link.count > 0 && reached[link.to].has(link.from);
  }
}
