// Drawings of numbers: curves, lines with their interval, bars of belief, reliability. All are SVG made of elements.

import { draw, fill, make } from "./dom.js";
import { T } from "./strings.js";

/** @param {number} low @param {number} high @param {number} [about] Round numbers between two others. */
export function ticks(low, high, about = 4) {
  const raw = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= raw) ?? raw;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

/**
 * A drawing as wide as there is room, made anew when that changes: so letters have their size on every screen.
 * @param {number} most The widest, in pixels.
 * @param {(width: number) => SVGElement} drawing
 */
function fitted(most, drawing) {
  const box = make("div", { class: "chart-box" });
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.min(most, Math.floor(box.clientWidth));
    if (width < 1 || width === last) return;
    last = width;
    fill(box, drawing(width));
  }).observe(box);
  return box;
}

/** How many round numbers there is room for. @param {number} pixels */
const room = (pixels) => Math.max(2, Math.min(7, Math.floor(pixels / 70)));

/** @param {[number, number][]} points */
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/**
 * A curve over positions or wavelengths: a spectrum.
 * @param {(number|null)[]} values
 * @param {{x?: number[], unit?: string, title?: string, height?: number, plain?: boolean, marks?: {at: number, colour: string}[]}} [how] The title is that of the positions.
 */
export function curve(values, how = {}) {
  return how.plain ? spectrum(values, how, 120) : fitted(900, (width) => spectrum(values, how, width));
}

/** @param {(number|null)[]} values @param {NonNullable<Parameters<typeof curve>[1]>} how @param {number} width */
function spectrum(values, how, width) {
  const height = how.height ?? 200;
  const xs = how.x?.length === values.length ? how.x : values.map((_, i) => i);
  const finite = values.filter((value) => value !== null);
  let low = Math.min(...finite), high = Math.max(...finite);
  if (!(high > low)) [low, high] = [low - 1, high + 1];
  const [left, bottom, top, right] = how.plain ? [2, 2, 2, 2] : [52, 38, 10, 10];
  const [first, last] = [xs[0] ?? 0, xs[xs.length - 1] ?? 1];
  const px = (/** @type {number} */ x) => left + ((x - first) / (last - first || 1)) * (width - left - right);
  const py = (/** @type {number} */ y) => height - bottom - ((y - low) / (high - low)) * (height - top - bottom);
  /** @type {[number, number][][]} */
  const parts = [[]];
  values.forEach((value, i) => {
    if (value === null) parts.push([]);
    else parts[parts.length - 1].push([px(xs[i]), py(value)]);
  });
  const lines = parts.filter((part) => part.length > 1).map((part) => draw("path", { d: path(part), class: "line" }));
  const marks = (how.marks ?? []).map((mark) => draw("line", { x1: px(xs[mark.at]), x2: px(xs[mark.at]), y1: top, y2: height - bottom, stroke: mark.colour, "stroke-width": 2, opacity: 0.8 }));
  const axes = how.plain ? [] : [...frame({ left, right, top, bottom, width, height }, ticks(first, last, room(width)).map((x) => [px(x), String(x)]),
    ticks(low, high).map((y) => [py(y), short(y)]), how.x?.length ? T.wavelength(how.unit ?? "") : how.title ?? T.band)];
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, ...(how.plain ? {} : { width, height }), class: "chart curve", role: "img", "aria-label": T.spectrum, preserveAspectRatio: how.plain ? "none" : "xMidYMid meet" }, axes, marks, lines);
}

/** @param {number} value */
const short = (value) => (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(value));

/**
 * @param {{left: number, right: number, top: number, bottom: number, width: number, height: number}} box
 * @param {[number, string][]} across
 * @param {[number, string][]} up
 * @param {string} title
 */
function frame(box, across, up, title) {
  const { left, right, top, bottom, width, height } = box;
  return [
    ...up.map(([y, words]) => draw("g", {}, draw("line", { x1: left, x2: width - right, y1: y, y2: y, class: "grid" }),
      draw("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, words))),
    ...across.map(([x, words]) => draw("text", { x, y: height - bottom + 16, "text-anchor": "middle" }, words)),
    draw("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: "axis" }),
    draw("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }, title),
    draw("line", { x1: left, x2: left, y1: top, y2: height - bottom, class: "axis" }),
  ];
}

/**
 * A share over the number of labels, with its interval where there is one.
 * @param {{x: number, y: number, low?: number, high?: number}[]} points
 * @param {string} title
 */
export function share(points, title) {
  return fitted(620, (width) => shareOf(points, title, width));
}

/** @param {Parameters<typeof share>[0]} points @param {string} title @param {number} width */
function shareOf(points, title, width) {
  const box = { left: 46, right: 12, top: 10, bottom: 38, width, height: 240 };
  const most = Math.max(10, ...points.map((point) => point.x));
  const least = Math.min(1, ...points.map((point) => point.low ?? point.y));
  const low = least > 0.55 ? 0.5 : 0;
  const px = (/** @type {number} */ x) => box.left + (x / most) * (box.width - box.left - box.right);
  const py = (/** @type {number} */ y) => box.height - box.bottom - ((y - low) / (1 - low)) * (box.height - box.top - box.bottom);
  const band = points.filter((point) => point.low !== undefined && point.high !== undefined);
  /** @type {[number, number][]} */
  const upper = band.map((point) => [px(point.x), py(point.high ?? 0)]);
  /** @type {[number, number][]} */
  const lower = band.map((point) => [px(point.x), py(Math.max(low, point.low ?? 0))]);
  const last = points[points.length - 1];
  return draw("svg", { width, height: box.height, class: "chart", role: "img", "aria-label": title },
    frame(box, ticks(0, most, room(width)).map((x) => [px(x), String(x)]), ticks(low, 1).map((y) => [py(y), `${Math.round(100 * y)} %`]), T.labelsAxis),
    band.length > 1 && draw("path", { d: `${path(upper)}${path([...lower].reverse()).replace("M", "L")}Z`, class: "band" }),
    points.length > 1 && draw("path", { d: path(points.map((point) => [px(point.x), py(Math.max(low, point.y))])), class: "line" }),
    last && draw("circle", { cx: px(last.x), cy: py(Math.max(low, last.y)), r: 4, class: "end" }));
}

/**
 * What was said against what was right.
 * @param {{mean: number, right: number, count: number}[]} bins
 */
export function reliability(bins) {
  return fitted(420, (width) => reliabilityOf(bins, width));
}

/** @param {Parameters<typeof reliability>[0]} bins @param {number} width */
function reliabilityOf(bins, width) {
  const box = { left: 40, right: 14, top: 10, bottom: 38, width, height: Math.min(300, width) };
  const px = (/** @type {number} */ x) => box.left + x * (box.width - box.left - box.right);
  const py = (/** @type {number} */ y) => box.height - box.bottom - y * (box.height - box.top - box.bottom);
  const marks = [0, 0.25, 0.5, 0.75, 1];
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  return draw("svg", { width, height: box.height, class: "chart", role: "img", "aria-label": T.calibrationTitle },
    frame(box, marks.map((x) => [px(x), `${100 * x}`]), marks.map((y) => [py(y), `${100 * y}`]), `${T.predictedShare} (%)`),
    draw("line", { x1: px(0), y1: py(0), x2: px(1), y2: py(1), class: "ideal" }),
    draw("path", { d: path(bins.map((bin) => [px(bin.mean), py(bin.right)])), class: "line" }),
    bins.map((bin) => draw("circle", { cx: px(bin.mean), cy: py(bin.right), r: 3 + 4 * Math.sqrt(bin.count / most), class: "end" })));
}
