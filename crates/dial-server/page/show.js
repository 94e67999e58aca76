// An item as a person sees it: a picture that can be zoomed, a text, a row of a table, or a spectrum as a curve.

import { curve } from "./chart.js";
import { foreign, make } from "./dom.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").Shown} Shown */

/**
 * Large, for the item that is asked.
 * @param {Shown} show
 * @param {string} id
 * @returns {HTMLElement}
 */
export function large(show, id) {
  switch (show.kind) {
    case "picture": return picture(show.url, id);
    case "text": return make("div", { class: "shown text", tabIndex: 0, role: "group", aria: { label: id } }, foreign(show.text));
    case "spectrum": return make("div", { class: "shown spectrum" }, curve(show.values, { x: show.wavelengths, unit: show.unit, height: 300 }),
      make("p", { class: "soft small" }, T.pixel(show.row, show.column)));
    case "numbers": return numbers(show);
  }
}

/**
 * Small, for grids and lists.
 * @param {Shown} show
 * @param {string} id
 * @param {number} [side] Pixels asked of the server for pictures.
 * @returns {HTMLElement}
 */
export function small(show, id, side = 160) {
  switch (show.kind) {
    case "picture": return image(`${show.url}&side=${side}`, id, "thumb");
    case "text": return make("div", { class: "thumb text" }, foreign(show.text.slice(0, 280)));
    case "spectrum": return make("div", { class: "thumb spectrum" }, curve(show.values, { x: show.wavelengths, height: 60, plain: true }));
    case "numbers": {
      const { values, names } = show;
      if (values.length > 12 && !names.length) return make("div", { class: "thumb spectrum" }, curve(values, { height: 60, plain: true }));
      const cells = values.slice(0, 6).map((value, i) => `${names[i] ?? i}: ${written(value)}`);
      return make("div", { class: "thumb text" }, foreign(cells.join(",\n")));
    }
  }
}

/** @param {string} url @param {string} id @param {string} kind */
function image(url, id, kind) {
  const found = make("img", { class: kind, alt: id, src: url, decoding: "async", draggable: false });
  found.addEventListener("load", () => {
    // What was enlarged from a few pixels stays sharp.
    if (found.naturalWidth <= 256) found.classList.add("pixels");
  });
  found.addEventListener("error", () => found.replaceWith(make("p", { class: `${kind} soft` }, T.pictureGone)));
  return found;
}

/** A picture with zoom: wheel, double click, buttons, or the key. @param {string} url @param {string} id */
function picture(url, id) {
  const inner = image(url, id, "whole");
  const frame = make("div", { class: "frame" }, inner);
  let scale = 1;
  let [x, y] = [0, 0];
  const place = () => {
    inner.style.transform = scale === 1 ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    frame.classList.toggle("zoomed", scale > 1);
  };
  const zoom = (/** @type {number} */ factor, cx = 0, cy = 0) => {
    const before = scale;
    scale = Math.min(16, Math.max(1, scale * factor));
    // The point under the pointer stays where it is.
    [x, y] = scale === 1 ? [0, 0] : [cx - (cx - x) * (scale / before), cy - (cy - y) * (scale / before)];
    place();
  };
  const centre = (/** @type {MouseEvent} */ event) => {
    const box = frame.getBoundingClientRect();
    return [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
  };
  frame.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [cx, cy] = centre(event);
    zoom(Math.exp(-event.deltaY / 300), cx, cy);
  }, { passive: false });
  frame.addEventListener("dblclick", (event) => {
    const [cx, cy] = centre(event);
    zoom(scale > 1 ? 1 / scale : 3, cx, cy);
  });
  frame.addEventListener("pointerdown", (event) => {
    if (scale === 1) return;
    frame.setPointerCapture(event.pointerId);
    const [startX, startY] = [event.clientX - x, event.clientY - y];
    const move = (/** @type {PointerEvent} */ now) => { [x, y] = [now.clientX - startX, now.clientY - startY]; place(); };
    frame.addEventListener("pointermove", move);
    frame.addEventListener("pointerup", () => frame.removeEventListener("pointermove", move), { once: true });
  });
  const button = (/** @type {string} */ sign, /** @type {string} */ words, /** @type {number} */ factor) =>
    make("button", { class: "quiet icon", type: "button", title: words, aria: { label: words }, on: { click: () => zoom(factor) } }, sign);
  const tools = make("div", { class: "tools" }, button("−", T.zoomOut, 1 / 1.6), button("+", T.zoomIn, 1.6), button("⤢", T.zoomFit, 1 / 16));
  const whole = make("div", { class: "shown picture" }, frame, tools);
  whole.addEventListener("dial-zoom", () => zoom(scale > 1 ? 1 / scale : 3));
  return whole;
}

/** @param {Extract<Shown, {kind: "numbers"}>} show */
function numbers({ values, names }) {
  if (values.length > 40 && !names.length) {
    return make("div", { class: "shown spectrum" }, curve(values, { height: 300 }));
  }
  const rows = values.map((value, i) => make("tr", {}, make("th", { scope: "row" }, foreign(names[i] ?? String(i))),
    make("td", { class: "number" }, written(value))));
  return make("div", { class: "shown table", tabIndex: 0, role: "group", aria: { label: T.details } }, make("table", {}, make("tbody", {}, rows)));
}

/** @param {number|null|undefined} value */
export function written(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return Number.isInteger(value) || size === 0 ? String(value) : size >= 1e5 || size < 1e-3 ? value.toExponential(3) : String(Number(value.toPrecision(5)));
}
