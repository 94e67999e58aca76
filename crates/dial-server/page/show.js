// An item as a person sees it: a picture that can be zoomed, a text, a row of a table, or a spectrum as a curve.

import { curve } from "./chart.js";
import { foreign, make } from "./dom.js";
import { picture as fetched, pictureNow, sized } from "./pictures.js";
import { reading } from "./scrolling.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").Shown} Shown */

/** From so many numbers without names on, their curve says more than they do. */
const MANY = 12;
/** The height of a curve: what the window has to give. */
const tall = () => Math.round(Math.min(440, Math.max(150, innerHeight * 0.38)));
/** A pixel of a picture that takes so many of the screen is drawn as a square: what was enlarged stays as it is. */
const SQUARE = 2.5;
/** A picture of so few pixels on its longest side is not enlarged without end. */
const FEW = 256;

/**
 * Large, for the item that is asked.
 * @param {Shown} show
 * @param {string} id
 * @returns {HTMLElement}
 */
export function large(show, id) {
  switch (show.kind) {
    case "picture": return picture(show.url, id);
    case "text": return reading(make("div", { class: "shown text", tabIndex: 0, role: "group", aria: { label: id } }, foreign(show.text)));
    case "spectrum": return reading(make("div", { class: "shown spectrum", tabIndex: 0, role: "group", aria: { label: id } },
      curve(show.values, { x: show.wavelengths, unit: show.unit, height: tall() }), make("p", { class: "soft small" }, T.pixel(show.row, show.column))));
    case "numbers": return numbers(show);
  }
}

/** Waits until a picture can be drawn at once; what is no picture can be anyway. @param {Shown} show @returns {Promise<void>} */
export async function drawable(show) {
  if (show.kind === "picture") await make("img", { src: await fetched(sized(show.url)) }).decode();
}

/**
 * Small, for grids and lists.
 * @param {Shown} show
 * @param {string} id
 * @param {number} [side] How large a picture is drawn at most, in pixels of the page.
 * @returns {HTMLElement}
 */
export function small(show, id, side = 160) {
  switch (show.kind) {
    case "picture": return thumbnail(`${show.url}&side=${Math.min(512, Math.ceil(side * devicePixelRatio))}`, id);
    case "text": return make("div", { class: "thumb text" }, foreign(show.text.slice(0, 280)));
    case "spectrum": return make("div", { class: "thumb spectrum" }, curve(show.values, { x: show.wavelengths, height: 60, plain: true }));
    case "numbers": {
      const { values, names } = show;
      if (values.length > MANY && !names.length) return make("div", { class: "thumb spectrum" }, curve(values, { height: 60, plain: true }));
      const cells = values.slice(0, 6).map((value, i) => `${names[i] ?? i}: ${written(value)}`);
      return make("div", { class: "thumb text" }, foreign(cells.join(",\n")));
    }
  }
}

/** @param {string} url @param {string} id @param {string} kind */
function image(url, id, kind) {
  const found = make("img", { class: kind, alt: id, draggable: false });
  const gone = () => found.replaceWith(make("p", { class: `${kind} soft` }, T.pictureGone));
  const there = pictureNow(url);
  if (there) found.src = there;
  else fetched(url).then((place) => { found.src = place; }, gone);
  found.addEventListener("error", gone);
  return found;
}

/** @param {string} url @param {string} id */
function thumbnail(url, id) {
  const found = image(url, id, "thumb");
  found.decoding = "async";
  found.addEventListener("load", () => found.classList.toggle("pixels", Math.max(found.naturalWidth, found.naturalHeight) <= 64));
  return found;
}

/** A picture with zoom: wheel, double click, buttons, or the key. @param {string} url @param {string} id */
function picture(url, id) {
  let path = sized(url);
  const inner = image(path, id, "whole");
  const frame = make("div", { class: "frame" }, inner);
  let scale = 1;
  let [x, y] = [0, 0];
  /** As many pixels of the picture as the screen can show: more of them for a larger frame, a denser screen, and a closer look. */
  const sharpen = () => {
    const { naturalWidth: width, naturalHeight: height } = inner;
    if (!width || !frame.clientWidth) return;
    inner.classList.toggle("few", Math.max(width, height) <= FEW);
    const [across, down] = [inner.offsetWidth, inner.offsetHeight];
    const drawn = Math.min(across / width, down / height) * devicePixelRatio * scale;
    inner.classList.toggle("pixels", drawn >= SQUARE);
    const better = sized(url, Math.max(frame.clientWidth, frame.clientHeight) * devicePixelRatio, scale);
    // One that is smaller than was asked for is all there is.
    const all = Math.max(width, height) < Number(path.split("side=")[1]);
    if (drawn <= 1 || all || better === path) return;
    path = better;
    fetched(better).then(async (place) => {
      await make("img", { src: place }).decode();
      if (path === better) inner.src = place;
    }).catch(() => {});
  };
  inner.addEventListener("load", sharpen);
  new ResizeObserver(sharpen).observe(frame);
  const place = () => {
    // It cannot be pushed out of its frame.
    const [across, down] = [frame.clientWidth, frame.clientHeight].map((side) => (side * (scale - 1)) / 2);
    [x, y] = [Math.min(across, Math.max(-across, x)), Math.min(down, Math.max(-down, y))];
    inner.style.transform = scale === 1 ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    frame.classList.toggle("zoomed", scale > 1);
    sharpen();
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

/** Numbers with names as a table; many without as a curve, with the numbers below it in small. @param {Extract<Shown, {kind: "numbers"}>} show */
function numbers({ values, names }) {
  if (values.length > MANY && !names.length) {
    const all = make("ol", { class: "values small soft", start: 0 }, values.map((value) => make("li", {}, written(value))));
    return reading(make("div", { class: "shown spectrum", tabIndex: 0, role: "group", aria: { label: T.details } }, curve(values, { height: tall(), title: T.place }), all));
  }
  const rows = values.map((value, i) => make("tr", {}, make("th", { scope: "row" }, foreign(names[i] ?? String(i))),
    make("td", { class: "number" }, written(value))));
  return reading(make("div", { class: "shown table", tabIndex: 0, role: "group", aria: { label: T.details } }, make("table", {}, make("tbody", {}, rows))));
}

/** @param {number|null|undefined} value */
export function written(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return Number.isInteger(value) || size === 0 ? String(value) : size >= 1e5 || size < 1e-3 ? value.toExponential(3) : String(Number(value.toPrecision(5)));
}
