// Bulk: a grid of items believed to be one class. Untick the wrong ones, accept the rest in one step.

import * as api from "../api.js";
import { announce, fill, foreign, make, toast } from "../dom.js";
import { turnKey } from "../panel.js";
import { complain } from "../refusals.js";
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

  // Messages stand above it.
  new ResizeObserver(() => document.body.style.setProperty("--foot", `${foot.offsetHeight && foot.offsetHeight + 8}px`)).observe(foot);

  /** @type {number|null} */
  let chosen = null;
  /** @type {"certain"|"doubtful"} */
  let order = "certain";
  /** @type {import("../types.js").Believed[]} */
  let rows = [];
  /** @type {Set<string>} */
  let ticked = new Set();
  let total = 0;
  /** Open items by class, as the model believes. @type {Map<number, number>} */
  let open = new Map();
  /** What somebody has unticked in this browser: class and item. It does not come back by itself. */
  const kept = `dial-unticked-${shared.project.id}`;
  /** @type {Set<string>} */
  const unticked = new Set(JSON.parse(localStorage.getItem(kept) ?? "[]"));
  /** What was accepted here, until the model knows it. @type {Set<string>} */
  const accepted = new Set();
  let turns = 0;

  /** How many open items each class has. */
  const count = async () => {
    const counts = await api.get("open");
    open = new Map(counts.classes.map((one) => [one.class, one.items]));
  };

  const read = async () => {
    const turn = ++turns;
    const classes = shared.project.classes;
    try {
      await count();
      if (turn !== turns) return;
      // The first look is at the class where most is to be done.
      if (!classes.some((one) => one.id === chosen)) chosen = fullest();
      drawPicker();
      if (chosen === null) return drawEmpty(T.bulkNotYet);
      const found = await nextPage(chosen);
      if (turn !== turns) return;
      rows = found;
      // What is more probably something else is not proposed.
      ticked = new Set(rows.filter((row) => surest(row) >= 0.5).map((row) => row.id));
      if (rows.length) draw(); else drawEmpty(T.bulkEmpty);
    } catch (error) {
      drawEmpty(/** @type {Error} */ (error).message);
    }
  };

  /** The model has followed: counts are others now. Tiles stay, because somebody may be ticking them. */
  const recount = async () => {
    await count().catch(() => {});
    if (!shown || chosen === null) return;
    total = open.get(chosen) ?? 0;
    drawPicker();
    if (!foot.hidden) drawFoot();
  };

  /** The class with the most open items, if any has some. @returns {number|null} */
  const fullest = () => [...open].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;

  /** The next items of a class that were neither accepted nor unticked. @param {number} id */
  const nextPage = async (id) => {
    /** @type {import("../types.js").Believed[]} */
    const found = [];
    for (let offset = 0; found.length < PAGE; offset += 200) {
      const page = await api.get("items", { class: id, order, open: true, limit: 200, offset });
      total = page.total;
      found.push(...page.rows.filter((row) => !accepted.has(row.id) && !unticked.has(`${id} ${row.id}`)));
      if (offset + 200 >= page.total) break;
    }
    return found.slice(0, PAGE);
  };

  const keepUnticked = () => localStorage.setItem(kept, JSON.stringify([...unticked]));
  /** What was unticked comes back. */
  const again = () => {
    for (const one of unticked) if (one.startsWith(`${chosen} `)) unticked.delete(one);
    keepUnticked();
    read();
  };

  /** @param {import("../types.js").Believed} row */
  const surest = (row) => Math.max(...row.belief.probabilities.map((one) => one.probability));

  /** @param {string} words */
  const drawEmpty = (words) => {
    rows = [];
    const next = fullest();
    const goOn = next !== null && next !== chosen && make("button", { type: "button", class: "main", on: { click: () => { chosen = next; read(); } } }, foreign(T.bulkGoOn(classOf(next).name, open.get(next) ?? 0)));
    fill(grid, make("li", { class: "empty" }, make("p", {}, words), goOn, leftOut() > 0 && make("button", { type: "button", on: { click: again } }, T.bulkAgain(leftOut()))));
    foot.hidden = true;
  };

  const drawPicker = () => {
    picker.hidden = chosen === null;
    const select = make("select", { aria: { label: T.bulkClass }, on: { change: () => { chosen = Number(select.value); read(); } } },
      shared.project.classes.map((one) => make("option", { value: String(one.id), selected: one.id === chosen }, T.bulkOf(one.name, open.get(one.id) ?? 0))));
    const by = (/** @type {typeof order} */ value, /** @type {string} */ words) => make("button", { type: "button", aria: { pressed: order === value }, on: { click: () => { order = value; read(); } } }, words);
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

  const leftOut = () => [...unticked].filter((one) => one.startsWith(`${chosen} `)).length;

  const drawFoot = () => {
    foot.hidden = false;
    const name = chosen === null ? "" : classOf(chosen).name;
    fill(foot, make("button", { class: "main", type: "button", disabled: ticked.size === 0, on: { click: accept } }, foreign(T.accept(ticked.size, name)), make("kbd", {}, "Enter")),
      make("button", { type: "button", on: { click: () => { ticked = new Set(rows.map((row) => row.id)); draw(); } } }, T.tickAll),
      make("button", { type: "button", on: { click: () => { ticked = new Set(); draw(); } } }, T.tickNone),
      leftOut() > 0 && make("button", { type: "button", class: "quiet", on: { click: again } }, T.bulkAgain(leftOut())),
      make("span", { class: "soft small" }, `${T.total(total)} · ${T.bulkWeight}`));
  };

  const accept = async () => {
    if (!ticked.size || chosen === null) return;
    const [id, items] = [chosen, [...ticked]];
    for (const row of rows) if (!ticked.has(row.id)) unticked.add(`${id} ${row.id}`);
    keepUnticked();
    for (const item of items) accepted.add(item);
    ticked = new Set();
    rows = [];
    try {
      await submit(items.map((item) => ({ kind: "label", item, classes: [{ class: id, weight: WEIGHT }] })));
      const words = T.bulkDone(items.length, classOf(id).name);
      toast(words, "good");
      announce(words);
    } catch (error) {
      for (const item of items) accepted.delete(item);
      complain(error);
    }
    await read();
    element.closest("main")?.scrollTo({ top: 0 });
  };

  let shown = false;
  return {
    element,
    show: () => { shown = true; read(); },
    hide: () => { shown = false; },
    key: (event) => {
      if (turnKey(event, () => { accepted.clear(); read(); })) return true;
      if (event.key !== "Enter" || event.repeat) return false;
      accept();
      return true;
    },
    // While somebody ticks, nothing moves but the counts; a page that is all accepted is read again by itself.
    changed: (what) => {
      if (!shown || what !== "model") return;
      if (rows.length === 0) read(); else recount();
    },
  };
}
