// What is believed about every item, as arrays: read again when the model has followed.

import * as api from "./api.js";
import { shared } from "./state.js";

/**
 * @typedef {object} Beliefs
 * @property {number} version
 * @property {Uint16Array} classes 65535 where nothing is believed.
 * @property {Uint8Array} probability
 * @property {Uint8Array} strength
 * @property {Uint8Array} variance
 * @property {Uint8Array} marks Bit 0 labelled, bit 1 skipped, bit 2 excluded.
 */

/** @returns {Promise<Beliefs>} */
export async function readBeliefs() {
  const { bytes, headers } = await api.bytes("beliefs");
  const n = bytes.byteLength / 6;
  const part = (/** @type {number} */ from) => new Uint8Array(bytes, from * n, n);
  return { version: Number(headers.get("x-dial-version")), classes: new Uint16Array(bytes, 0, n), probability: part(2), strength: part(3), variance: part(4), marks: part(5) };
}

/** A byte for every item: bit 0 whether it is labelled, above it the shape of its class. @param {Beliefs} beliefs */
export function forms(beliefs) {
  const shapes = new Map(shared.project.classes.map((one) => [one.id, one.shape]));
  return beliefs.marks.map((mark, i) => (mark & 1) | ((shapes.get(beliefs.classes[i]) ?? 0) << 1));
}

/** @param {string} colour As #rrggbb. @returns {[number, number, number]} */
export function rgb(colour) {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Whether the page is dark just now. */
export function dark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** From certain to doubtful: from blue over white to orange, which everybody can tell apart. @param {number} doubt From 0 to 1. */
export function doubtColour(doubt) {
  const [a, b, c] = [[33, 102, 172], [200, 200, 190], [213, 94, 0]];
  const [from, to, t] = doubt < 0.5 ? [a, b, 2 * doubt] : [b, c, 2 * doubt - 1];
  return from.map((value, i) => Math.round(value + (to[i] - value) * t));
}

/** The strength from which on an item has the colour of its class and nothing else. */
const STRONG = 110;

/** How much of its colour an item shows: none where no label says anything, all where a person has said it. @param {Beliefs} beliefs @param {number} row */
export function shareKnown(beliefs, row) {
  return beliefs.marks[row] & 1 ? 1 : Math.sqrt(Math.min(1, beliefs.strength[row] / STRONG));
}

/**
 * The colour of an item where all is known: that of its class as the legend has it, or of its doubt.
 * @param {Beliefs} beliefs @param {number} row @param {"class"|"doubt"} by @param {Map<number, number[]>} hues
 */
export function colourOf(beliefs, row, by, hues) {
  const hue = hues.get(beliefs.classes[row]);
  if (by === "class" || !hue) return hue;
  return doubtColour(beliefs.marks[row] & 1 ? 0 : Math.min(1, 2 * (1 - beliefs.probability[row] / 255)));
}

/** The colours of the classes, by id. @returns {Map<number, number[]>} */
export function hues() {
  return new Map(shared.project.classes.map((one) => [one.id, rgb(one.colour)]));
}

/**
 * Four bytes of colour for every item: the class or the doubt, fading into grey as the evidence fades.
 * @param {Beliefs} beliefs
 * @param {"class"|"doubt"} by
 */
export function colours(beliefs, by) {
  const n = beliefs.classes.length;
  const out = new Uint8Array(4 * n);
  // As the dot of the legend (base.css).
  const grey = dark() ? [120, 126, 138] : [150, 153, 160];
  const known = hues();
  for (let i = 0; i < n; i++) {
    const full = colourOf(beliefs, i, by, known) ?? grey;
    const share = full === grey ? 0 : shareKnown(beliefs, i);
    // Little evidence is pale, not dark.
    const colour = full.map((value, c) => Math.round(grey[c] + (value - grey[c]) * share));
    const alpha = beliefs.marks[i] & 4 ? 25 : Math.round(110 + 145 * share);
    out.set([colour[0], colour[1], colour[2], alpha], 4 * i);
  }
  return out;
}
