// Bulk: a grid of items believed to be one class. Untick the wrong ones, accept the rest in one step.

import * as api from "../api.js";
import { announce, fill, foreign, make, toast } from "../dom.js";
import { commandOf } from "../keys.js";
import { turn } from "../panel.js";
import { small } from "../show.js";
import { classOf, shared, submit } from "../state.js";
import { T } from "../strings.js";

/** Items on a page of the grid. */
const PAGE = 48;
/** Answers for many at once count less than one that somebody looked at alone. */
const WEIGHT = 0.5;

/** @returns {import("../types.js").View} */
export function bulkView() {
  const picker = make("div", { class: "row" });
  const grid = make("ul", { class: "grid", aria: { label: T.bulkTitle } });
  const foot = make("footer", { class: "bulk-foot card row" });
  const element = make("div", { class: "view bulk-view" }, make("header", {}, make("h2", {}, T.bulkTitle), make("p", {}, T.bulkHow)), picker, grid, foot);

  /** @type {number|null} */
  let chosen = null;
  let order = "certain";
  /** @type {import("../types.js").Believed[]} */
  let rows = [];
  /** @type {Set<string>} */
  let ticked = new Set();
  let total = 0;
  /** What somebody has unticked, by class: it does not come back. @type {Map<number, Set<string>>} */
  const rejected = new Map();
  let turns = 0;

  const read = async () => {
    const turn = ++turns;
    const classes = shared.project.classes;
    if (!classes.some((one) => one.id === chosen)) chosen = classes[0]?.id ?? null;
    drawPicker();
    if (chosen === null || !shared.project.model_ready) return drawEmpty(T.bulkNotYet);
    try {
      const out = rejected.get(chosen) ?? new Set();
      const page = await api.get("items", { class: chosen, order, open: true, limit: Math.min(1000, PAGE + out.size) });
      if (turn !== turns) return;
      rows = page.rows.filter((/** @type {import("../types.js").Believed} */ row) => !out.has(row.id)).slice(0, PAGE);
      total = page.total;
      // What is more probably something else is not proposed.
      ticked = new Set(rows.filter((row) => surest(row) >= 0.5).map((row) => row.id));
      if (rows.length) draw(); else drawEmpty(T.bulkEmpty);
    } catch (error) {
      drawEmpty(/** @type {Error} */ (error).message);
    }
  };

  /** @param {import("../types.js").Believed} row */
  const surest = (row) => Math.max(...row.belief.probabilities.map((one) => one.probability));

  /** @param {string} words */
  const drawEmpty = (words) => {
    fill(grid, make("li", { class: "empty" }, words));
    foot.hidden = true;
  };

  const drawPicker = () => {
    const select = make("select", { aria: { label: T.bulkClass }, on: { change: () => { chosen = Number(select.value); read(); } } },
      shared.project.classes.map((one) => make("option", { value: String(one.id), selected: one.id === chosen }, one.name)));
    const by = (/** @type {string} */ value, /** @type {string} */ words) => make("button", { type: "button", aria: { pressed: order === value }, on: { click: () => { order = value; read(); } } }, words);
    fill(picker, make("label", { class: "field" }, T.bulkClass, select), make("div", { class: "segments", role: "group", aria: { label: T.order } }, by("certain", T.certain), by("doubtful", T.doubtful)));
  };

  const draw = () => {
    fill(grid, rows.map((row) => {
      const known = classOf(row.belief.class);
      const sure = surest(row);
      const button = make("button", { type: "button", class: "tile", role: "checkbox", title: row.id, style: { "--hue": known.colour },
        aria: { checked: ticked.has(row.id), label: `${row.id}, ${T.sure(sure)}` },
        on: { click: () => {
          if (ticked.has(row.id)) ticked.delete(row.id); else ticked.add(row.id);
          button.setAttribute("aria-checked", String(ticked.has(row.id)));
          drawFoot();
        } } }, small(row.show, row.id), make("span", { class: "caption" }, make("span", { class: "tick", aria: { hidden: "true" } }), T.sure(sure)));
      return make("li", {}, button);
    }));
    drawFoot();
  };

  const drawFoot = () => {
    foot.hidden = false;
    const name = chosen === null ? "" : classOf(chosen).name;
    fill(foot, make("button", { class: "main", type: "button", disabled: ticked.size === 0, on: { click: accept } }, foreign(T.accept(ticked.size, name)), make("kbd", {}, "Enter")),
      make("button", { type: "button", on: { click: () => { ticked = new Set(rows.map((row) => row.id)); draw(); } } }, T.tickAll),
      make("button", { type: "button", on: { click: () => { ticked = new Set(); draw(); } } }, T.tickNone),
      make("span", { class: "soft small" }, `${T.total(total)} · ${T.bulkWeight}`));
  };

  const accept = async () => {
    if (!ticked.size || chosen === null) return;
    const [id, items] = [chosen, [...ticked]];
    const out = rejected.get(id) ?? new Set();
    for (const row of rows) if (!ticked.has(row.id)) out.add(row.id);
    rejected.set(id, out);
    ticked = new Set();
    rows = [];
    try {
      await submit(items.map((item) => ({ kind: "label", item, classes: [{ class: id, weight: WEIGHT }] })));
      const words = T.bulkDone(items.length, classOf(id).name);
      toast(words, "good");
      announce(words);
      await read();
    } catch (error) {
      toast(/** @type {Error} */ (error).message, "bad");
      read();
    }
  };

  let shown = false;
  return {
    element,
    show: () => { shown = true; read(); },
    hide: () => { shown = false; },
    key: (event) => {
      const command = commandOf(event);
      if (event.repeat) return false;
      if (command === "undo" || command === "redo") turn(command).then(read);
      else if (event.key === "Enter") accept();
      else return false;
      return true;
    },
    // While somebody ticks, nothing moves; a page that is all accepted is read again by itself.
    changed: (what) => { if (shown && what === "model" && rows.length === 0) read(); },
  };
}
