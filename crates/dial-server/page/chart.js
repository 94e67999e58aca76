// Drawings of numbers: curves, lines with their interval, bars of belief, reliability. All are SVG made of elements.

import { draw } from "./dom.js";
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

/** @param {[number, number][]} points */
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/**
 * A curve over positions or wavelengths: a spectrum.
 * @param {(number|null)[]} values
 * @param {{x?: number[], unit?: string, height?: number, plain?: boolean, marks?: {at: number, colour: string}[]}} [how]
 */
export function curve(values, how = {}) {
  const [width, height] = [560, how.height ?? 200];
  const xs = how.x?.length === values.length ? how.x : values.map((_, i) => i);
  const finite = values.filter((value) => value !== null);
  let low = Math.min(...finite), high = Math.max(...finite);
  if (!(high > low)) [low, high] = [low - 1, high + 1];
  const [left, bottom, top, right] = how.plain ? [2, 2, 2, 2] : [44, 32, 8, 8];
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
  const axes = how.plain ? [] : [...frame({ left, right, top, bottom, width, height }, ticks(first, last, 6).map((x) => [px(x), String(x)]),
    ticks(low, high).map((y) => [py(y), short(y)]), how.x?.length ? T.wavelength(how.unit ?? "") : T.band)];
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart curve", role: "img", "aria-label": T.band, preserveAspectRatio: how.plain ? "none" : "xMidYMid meet" }, axes, marks, lines);
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
    ...across.map(([x, words]) => draw("text", { x, y: height - bottom + 15, "text-anchor": "middle" }, words)),
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
  const box = { left: 40, right: 10, top: 10, bottom: 32, width: 440, height: 230 };
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
  return draw("svg", { viewBox: `0 0 ${box.width} ${box.height}`, class: "chart", role: "img", "aria-label": title },
    frame(box, ticks(0, most, 6).map((x) => [px(x), String(x)]), ticks(low, 1).map((y) => [py(y), `${Math.round(100 * y)} %`]), T.labelsAxis),
    band.length > 1 && draw("path", { d: `${path(upper)}${path([...lower].reverse()).replace("M", "L")}Z`, class: "band" }),
    points.length > 1 && draw("path", { d: path(points.map((point) => [px(point.x), py(Math.max(low, point.y))])), class: "line" }),
    last && draw("circle", { cx: px(last.x), cy: py(Math.max(low, last.y)), r: 4, class: "end" }));
}

/**
 * What was said against what was right.
 * @param {{mean: number, right: number, count: number}[]} bins
 */
export function reliability(bins) {
  const box = { left: 40, right: 10, top: 10, bottom: 32, width: 300, height: 260 };
  const px = (/** @type {number} */ x) => box.left + x * (box.width - box.left - box.right);
  const py = (/** @type {number} */ y) => box.height - box.bottom - y * (box.height - box.top - box.bottom);
  const marks = [0, 0.25, 0.5, 0.75, 1];
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  return draw("svg", { viewBox: `0 0 ${box.width} ${box.height}`, class: "chart", role: "img", "aria-label": T.calibrationTitle },
    frame(box, marks.map((x) => [px(x), `${100 * x}`]), marks.map((y) => [py(y), `${100 * y}`]), `${T.said} (%)`),
    draw("line", { x1: px(0), y1: py(0), x2: px(1), y2: py(1), class: "ideal" }),
    draw("path", { d: path(bins.map((bin) => [px(bin.mean), py(bin.right)])), class: "line" }),
    bins.map((bin) => draw("circle", { cx: px(bin.mean), cy: py(bin.right), r: 3 + 4 * Math.sqrt(bin.count / most), class: "end" })));
}
