// A chosen item, or many, with the classes to call them: beside the map and the scene.

import * as api from "./api.js";
import { bars } from "./bars.js";
import { Picker } from "./classes.js";
import { announce, fill, foreign, make, toast } from "./dom.js";
import { commandOf } from "./keys.js";
import { complain } from "./refusals.js";
import { large } from "./show.js";
import { annotator, classOf, saidOf, submit } from "./state.js";
import { T } from "./strings.js";

/** Items that may be called at once. */
const MAX_BULK = 10000;
/** Answers for many at once count less than one that somebody looked at. */
const BULK_WEIGHT = 0.5;

export class Panel {
  /** @param {() => void} changed Called when the choice changes. */
  constructor(changed) {
    this.element = make("aside", { class: "panel card pad", aria: { live: "polite" }, hidden: true });
    this.changed = changed;
    this.picker = new Picker((known, soft) => { this.label(known.id, soft); });
    /** @type {number[]} */
    this.rows = [];
    /** @type {import("./types.js").ItemView|null} */
    this.card = null;
    this.turn = 0;
  }

  /** @param {number[]} rows */
  async choose(rows) {
    const turn = ++this.turn;
    this.rows = rows;
    this.card = null;
    if (rows.length === 1) this.card = await api.get("item", { row: rows[0] }).catch(() => null);
    if (turn !== this.turn) return;
    this.draw();
    this.changed();
  }

  draw() {
    this.element.hidden = this.rows.length === 0;
    if (!this.rows.length) return fill(this.element);
    const cross = make("button", { class: "quiet icon", type: "button", aria: { label: T.clear }, on: { click: () => this.choose([]) } }, "✕");
    const many = this.rows.length > 1;
    const title = make("header", { class: "row" }, make("h2", {}, many ? T.chosen(this.rows.length) : foreign(this.card?.id ?? "")), cross);
    this.picker.draw();
    const labels = this.card?.labels.map((label) => make("p", { class: "small soft" }, foreign(T.says(label.annotator, saidOf(label.classes)))));
    fill(this.element, title, this.card && large(this.card.show, this.card.id), labels ?? null,
      many && make("p", { class: "soft small" }, this.rows.length > MAX_BULK ? T.chosenTooMany(this.rows.length) : T.bulkWeight),
      this.rows.length <= MAX_BULK && this.picker.element,
      this.card?.belief && bars(this.card.belief));
  }

  /** @param {number} id @param {boolean} [soft] Unsure: the answer counts half. */
  async label(id, soft = false) {
    const rows = this.rows;
    const many = rows.length > 1;
    if (!rows.length || rows.length > MAX_BULK || (!many && !this.card)) return;
    try {
      const ids = many ? await api.post("ids", { rows }) : [this.card?.id ?? ""];
      const classes = [{ class: id, weight: many || soft ? BULK_WEIGHT : 1 }];
      const replace = many || (this.card?.labels.some((label) => label.annotator === annotator()) ?? false);
      await submit(ids.map((item) => ({ kind: "label", item, classes })), { replace });
      const words = many ? T.bulkDone(rows.length, classOf(id).name) : T.took(ids[0], classOf(id).name);
      toast(words, "good");
      announce(words);
      this.choose([]);
    } catch (error) {
      complain(error);
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape" && this.rows.length) { this.choose([]); return true; }
    return (this.rows.length > 0 && this.picker.key(event)) || turnKey(event);
  }
}

/** Takes back or brings back, if that is what a key means. @param {KeyboardEvent} event @param {() => void} [after] */
export function turnKey(event, after = () => {}) {
  const command = commandOf(event);
  if (command !== "undo" && command !== "redo") return false;
  if (!event.repeat) turn(command).then(after);
  return true;
}

/** @param {"undo"|"redo"} kind The latest decision of whoever labels here. */
async function turn(kind) {
  try {
    const { items = [], turned = 0 } = await submit([{ kind, group: null }]);
    toast(T.turned(kind, items, turned), "good");
  } catch (error) {
    complain(error);
  }
}
