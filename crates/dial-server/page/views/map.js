// Map: every item as a point. Colour is the class, strength the evidence; labelled ones are ringed.

import * as api from "../api.js";
import { colours, dark, forms, readBeliefs } from "../beliefs.js";
import { drawLegend } from "../classes.js";
import { calmly, draw as svg, fill, foreign, make } from "../dom.js";
import { Panel } from "../panel.js";
import { Finder, Points, inside } from "../points.js";
import { small } from "../show.js";
import { classOf, shared } from "../state.js";
import { T, percent } from "../strings.js";

/** @returns {import("../types.js").View} */
export function mapView() {
  const canvas = make("canvas", { class: "map", tabIndex: 0, aria: { label: T.mapTitle } });
  const over = svg("svg", { class: "over", "aria-hidden": "true" });
  const tip = make("div", { class: "tip card", hidden: true });
  const note = make("p", { class: "soft small note" }, T.mapWait);
  const legend = make("ul", { class: "legend", tabIndex: 0, aria: { label: T.legend } });
  const panel = new Panel(() => drawOver());
  const tools = make("div", { class: "row tools" });
  const stage = make("div", { class: "stage card" }, canvas, over, tip, tools, legend);
  const element = make("div", { class: "view map-view wide" }, stage, panel.element, note);

  /** @type {Points|null} */
  let points = null;
  /** @type {Float32Array|null} */
  let places = null;
  /** @type {Finder|null} */
  let finder = null;
  /** @type {import("../beliefs.js").Beliefs|null} */
  let beliefs = null;
  /** @type {"class"|"doubt"} */
  let by = "class";
  let lassoing = false;
  /** @type {number[][]} Pixels. */
  let line = [];
  let hovered = -1;
  let shown = false;
  /** The classes that legend and panel were drawn from. */
  let drawnFrom = "";
  /** @type {number} */
  let moving = 0;

  try {
    points = new Points(canvas);
  } catch {
    fill(element, make("div", { class: "empty card" }, make("h2", {}, T.broken), make("p", {}, T.mapNo)));
  }

  const drawTools = () => {
    const choice = (/** @type {"class"|"doubt"} */ which, /** @type {string} */ words) => make("button", { type: "button", aria: { pressed: by === which }, on: { click: () => { by = which; paint(false); drawTools(); } } }, words);
    const lasso = make("button", { type: "button", aria: { pressed: lassoing }, on: { click: () => { lassoing = !lassoing; drawTools(); } } }, T.lasso);
    fill(tools, make("div", { class: "segments", role: "group", aria: { label: T.colourBy } }, choice("class", T.colourClass), choice("doubt", T.colourDoubt)),
      lasso, make("button", { type: "button", on: { click: () => fit() } }, T.fit));
    stage.classList.toggle("lassoing", lassoing);
  };

  const fit = () => { if (points) { points.zoom = 1; points.centre = [0, 0]; points.draw(); drawOver(); } };

  const readPlaces = async () => {
    try {
      const { bytes, headers } = await api.bytes("map");
      const target = new Float32Array(bytes);
      const layout = /** @type {keyof typeof T.mapLayout} */ (headers.get("x-dial-layout") ?? "components");
      note.textContent = `${T.mapHow} (${T.mapLayout[layout]})`;
      glide(target);
    } catch (error) {
      const { status, message } = /** @type {api.Refusal} */ (error);
      note.textContent = status === 404 ? T.mapWait : message;
    }
  };

  /** Moves the points to their new places. @param {Float32Array} target */
  const glide = (target) => {
    cancelAnimationFrame(moving);
    const start = places;
    const still = !start || start.length !== target.length || matchMedia("(prefers-reduced-motion: reduce)").matches;
    finder = new Finder(target);
    places = target;
    if (still || !start) { points?.setPlaces(target); drawOver(); return; }
    const began = performance.now();
    const between = new Float32Array(target.length);
    const step = () => {
      const t = Math.min(1, (performance.now() - began) / 700);
      const ease = t * t * (3 - 2 * t);
      for (let i = 0; i < target.length; i++) between[i] = start[i] + (target[i] - start[i]) * ease;
      points?.setPlaces(between);
      if (t < 1) moving = requestAnimationFrame(step); else drawOver();
    };
    step();
  };

  const paint = (fade = true) => {
    if (!points || !beliefs) return;
    points.ring = dark() ? [1, 1, 1] : [0.07, 0.08, 0.1];
    points.setColours(colours(beliefs, by), forms(beliefs), fade && !matchMedia("(prefers-reduced-motion: reduce)").matches);
    canvas.dataset.version = String(beliefs.version);
  };

  const readAll = calmly(async () => {
    if (!shown) return;
    const found = await readBeliefs().catch(() => null);
    // Answers may overtake each other.
    if (!found || found.version < (beliefs?.version ?? 0)) return;
    beliefs = found;
    paint();
  }, 300);

  /** Marks on top: what is chosen, what is pointed at, the lasso. */
  const drawOver = () => {
    if (!points || !places) return;
    const at = (/** @type {number} */ row) => (places && points ? points.toScreen(places[2 * row], places[2 * row + 1]) : [0, 0]);
    const rings = panel.rows.slice(0, 3000).map((row) => { const [cx, cy] = at(row); return svg("circle", { cx, cy, r: panel.rows.length === 1 ? 12 : 6, class: "chosen" }); });
    const hover = hovered >= 0 ? [svg("circle", { cx: at(hovered)[0], cy: at(hovered)[1], r: 9, class: "hovered" })] : [];
    const loop = line.length > 1 ? [svg("path", { d: `M${line.map(([x, y]) => `${x} ${y}`).join("L")}Z`, class: "loop" })] : [];
    const asked = shared.asked >= 0 && 2 * shared.asked < places.length ? [svg("circle", { cx: at(shared.asked)[0], cy: at(shared.asked)[1], r: 11, class: "asked" })] : [];
    fill(over, asked, rings, hover, loop);
  };

  const pointAt = (/** @type {MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const rowAt = (/** @type {MouseEvent} */ event) => {
    if (!points || !finder) return -1;
    const [x, y] = points.toMap(...(/** @type {[number, number]} */ (pointAt(event))));
    const [sx] = points.scale();
    return finder.nearest(x, y, (12 * 2) / (canvas.clientWidth || 1) / sx);
  };

  let tipTurn = 0;
  const hover = async (/** @type {MouseEvent} */ event) => {
    const row = rowAt(event);
    if (row === hovered) return;
    hovered = row;
    drawOver();
    const own = ++tipTurn;
    tip.hidden = true;
    if (row < 0) return;
    const [x, y] = pointAt(event);
    await new Promise((resolve) => setTimeout(resolve, 60));
    if (own !== tipTurn) return;
    const card = await api.get("item", { row }).catch(() => null);
    if (!card || own !== tipTurn) return;
    const { belief } = card;
    const named = !belief ? "" : belief.reached ? `${classOf(belief.class).name} ${percent(Math.max(...belief.probabilities.map((one) => one.probability)))}` : T.unreached;
    fill(tip, small(card.show, card.id), make("p", {}, foreign(card.id)), make("p", { class: "soft small" }, foreign(named)));
    tip.style.left = `${Math.min(x + 14, stage.clientWidth - 190)}px`;
    tip.style.top = `${Math.min(y + 14, stage.clientHeight - 190)}px`;
    tip.hidden = false;
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (!points) return;
    const [px, py] = pointAt(event);
    const before = points.toMap(px, py);
    points.zoom = Math.min(400, Math.max(0.7, points.zoom * Math.exp(-event.deltaY / 400)));
    const after = points.toMap(px, py);
    points.centre = [points.centre[0] + before[0] - after[0], points.centre[1] + before[1] - after[1]];
    points.draw();
    drawOver();
  }, { passive: false });

  /** @type {Map<number, PointerEvent>} */
  const fingers = new Map();
  /** How far the pointer went since it was put down. */
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
    if (lassoing || event.shiftKey) line = [pointAt(event)];
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) { hover(event); return; }
    if (line.length) { line.push(pointAt(event)); drawOver(); return; }
    if (!points) return;
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      const other = a.pointerId === event.pointerId ? b : a;
      const distance = (/** @type {PointerEvent} */ one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
      points.zoom = Math.min(400, Math.max(0.7, points.zoom * (distance(event) / distance(before))));
      moved += 10;
    } else {
      const [from, to] = [points.toMap(before.clientX, before.clientY), points.toMap(event.clientX, event.clientY)];
      points.centre = [points.centre[0] + from[0] - to[0], points.centre[1] + from[1] - to[1]];
    }
    fingers.set(event.pointerId, event);
    moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    points.draw();
    drawOver();
  });
  canvas.addEventListener("pointerup", (event) => {
    fingers.delete(event.pointerId);
    if (line.length) {
      const loop = line.map(([x, y]) => points?.toMap(x, y) ?? [0, 0]);
      line = [];
      if (places && loop.length > 2) {
        const open = inside(places, loop).filter((row) => !((beliefs?.marks[row] ?? 0) & 5));
        panel.choose(open);
      }
      drawOver();
    } else if (moved < 5 && fingers.size === 0) {
      const row = rowAt(event);
      panel.choose(row >= 0 ? [row] : []);
    }
    if (fingers.size === 0) moved = 0;
  });
  canvas.addEventListener("pointercancel", (event) => { fingers.delete(event.pointerId); line = []; });
  canvas.addEventListener("pointerleave", () => { hovered = -1; tipTurn++; tip.hidden = true; drawOver(); });
  canvas.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? undefined : { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!points || !places) return;
    const middle = () => (points && finder ? finder.nearest(points.centre[0], points.centre[1], 2) : -1);
    if (event.key === "+" || event.key === "=" || event.key === "-") {
      points.zoom = Math.min(400, Math.max(0.7, points.zoom * (event.key === "-" ? 1 / 1.5 : 1.5)));
      points.draw();
      hovered = middle();
      drawOver();
      event.preventDefault();
    } else if (event.key === "Enter") {
      const [left, top] = points.toMap(0, 0);
      const [right, bottom] = points.toMap(canvas.clientWidth, canvas.clientHeight);
      const all = event.shiftKey ? inside(places, [[left, top], [right, top], [right, bottom], [left, bottom]]).filter((row) => !((beliefs?.marks[row] ?? 0) & 5)) : [middle()];
      panel.choose(all.filter((row) => row >= 0));
      event.preventDefault();
    }
    if (!step) return;
    points.centre = [points.centre[0] + (0.15 * step[0]) / points.zoom, points.centre[1] + (0.15 * step[1]) / points.zoom];
    points.draw();
    hovered = middle();
    drawOver();
    event.preventDefault();
  });
  new ResizeObserver(() => { points?.draw(); drawOver(); }).observe(stage);

  return {
    element,
    show: () => { shown = true; drawTools(); drawLegend(legend); if (points) { readPlaces(); readAll(); } },
    hide: () => { shown = false; tip.hidden = true; },
    key: (event) => panel.key(event),
    changed: (what) => {
      if (!shown) return;
      if (what === "map") readPlaces();
      else if (what === "project") {
        const from = JSON.stringify([dark(), shared.project.classes.map((one) => [one.id, one.name, one.colour, one.key])]);
        if (from === drawnFrom) return;
        drawnFrom = from;
        drawLegend(legend);
        paint(false);
        panel.draw();
      }
      else readAll();
    },
  };
}
