// Which key does what. Classes have letters and digits; commands have the other keys, so that the two never meet.
//
// A character may be anywhere on a keyboard, or need AltGr, or share its key with a digit. So a digit counts by its place in the
// top row, letters of other alphabets by theirs, and commands that are characters have a second key that every keyboard has.

import { shared } from "./state.js";

/** @typedef {"undo"|"redo"|"skip"|"exclude"|"unsure"|"add"|"find"|"help"|"before"|"after"|"zoom"} Command */

/** @type {Record<Command, string>} */
const USUAL = {
  undo: "Backspace", redo: "Shift+Backspace", skip: "Space", exclude: "Delete", unsure: "Enter", add: "+", find: "/", help: "?",
  before: "[", after: "]", zoom: "=",
};

/** What does the same on every keyboard. @type {Partial<Record<Command, string>>} */
export const ALSO = {
  undo: "Ctrl+Z", redo: "Ctrl+Y", help: "F1", add: "F2", find: "F3", zoom: "F4", before: "Shift+ArrowLeft", after: "Shift+ArrowRight",
};

/** @returns {Record<Command, string>} */
export function commands() {
  try {
    return { ...USUAL, ...JSON.parse(localStorage.getItem("dial-keys") ?? "{}") };
  } catch {
    return { ...USUAL };
  }
}

/** @param {Command} command @param {string} key */
export function setCommand(command, key) {
  localStorage.setItem("dial-keys", JSON.stringify({ ...commands(), [command]: key }));
}

export function resetCommands() {
  localStorage.removeItem("dial-keys");
}

/**
 * A key press as we name it: `a`, `Space`, `Shift+Backspace`. Characters say themselves whether Shift was held.
 * @param {KeyboardEvent} event
 */
export function named(event) {
  const key = event.key === " " ? "Space" : event.key;
  return event.shiftKey && key.length > 1 ? `Shift+${key}` : key;
}

/** Keys that only change what others mean, or are still on the way to a character. @param {KeyboardEvent} event */
export const unfinished = (event) => composing(event)
  || ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "NumLock", "Fn", "Dead", "Unidentified"].includes(event.key);

/** Whether the key goes to an input method, which makes characters of several keys. @param {KeyboardEvent} event */
export const composing = (event) => event.isComposing || event.key === "Process" || event.keyCode === 229;

/** Whether AltGr is held: Windows says it as Ctrl and Alt, a Mac has Option for it. @param {KeyboardEvent} event */
const third = (event) => event.getModifierState("AltGraph") || (event.altKey && !event.metaKey);

/** Whether a key was pressed without any other but Shift. @param {KeyboardEvent} event */
const plain = (event) => !event.ctrlKey && !event.metaKey && !event.altKey && !event.getModifierState("AltGraph");

/** Whether a key says what it is: plain, or a sign that needs AltGr. A letter with Ctrl and Alt is no sign. @param {KeyboardEvent} event */
const says = (event) => plain(event) || (third(event) && event.key.length === 1 && !/[\p{L}\p{N}\s]/u.test(event.key));

/** The digit whose place in the top row a key has, or an empty text. @param {KeyboardEvent} event */
const digitOf = (event) => /^Digit(\d)$/.exec(event.code)?.[1] ?? "";

/** A small Latin letter: the one that was typed, without its accent, or that of the place where other alphabets have theirs. @param {KeyboardEvent} event */
function letterOf({ key, code }) {
  const small = key.toLowerCase();
  if (key.length !== 1 || /^[a-z]$/.test(small) || !code.startsWith("Key") || !/\p{L}/u.test(key)) return small;
  const bare = small.normalize("NFD")[0];
  return /[a-z]/.test(bare) ? bare : code.slice(3).toLowerCase();
}

/** @param {KeyboardEvent} event @returns {Command|null} */
export function commandOf(event) {
  if (composing(event)) return null;
  if ((event.ctrlKey || event.metaKey) && !third(event)) {
    const letter = letterOf(event);
    if (letter === "z") return event.shiftKey ? "redo" : "undo";
    return letter === "y" ? "redo" : null;
  }
  if (!says(event)) return null;
  const name = named(event);
  const own = commands();
  const all = /** @type {Command[]} */ (Object.keys(USUAL));
  const found = all.find((command) => own[command] === name) ?? all.find((command) => ALSO[command] === name) ?? null;
  // On many keyboards = / or + are Shift and a digit. Then that is the class of the digit, unless somebody chose otherwise.
  const digit = found && own[found] === USUAL[found] && plain(event) ? digitOf(event) : "";
  return digit && shared.project.classes.some((one) => one.key === digit) ? null : found;
}

/**
 * The class a key means, and whether it was said with Shift: unsure.
 * @template {{key: string}} C
 * @param {KeyboardEvent} event
 * @param {C[]} classes
 * @returns {{known: C, soft: boolean}|null}
 */
export function classOfKey(event, classes) {
  if (composing(event) || !says(event)) return null;
  const { key, shiftKey } = event;
  const of = (/** @type {string} */ wanted) => classes.find((one) => one.key !== "" && one.key === wanted);
  const exact = of(key);
  // The digits of the top row by their place: some keyboards have them without Shift, some with it.
  const digit = plain(event) ? digitOf(event) : "";
  const placed = of(digit);
  if (placed && (!exact || exact === placed) && (key === digit || !/^\d$/.test(key))) return { known: placed, soft: shiftKey };
  // Caps Lock makes small letters of those with Shift; Shift and a digit of the number pad is one on some systems only.
  if (exact) return { known: exact, soft: shiftKey && (/^[a-z]$/.test(key) || event.code.startsWith("Numpad")) };
  if (!plain(event)) return null;
  const known = of(letterOf(event));
  return known ? { known, soft: shiftKey } : null;
}

/** Whether somebody is typing. @param {EventTarget|null} target */
export function typing(target) {
  // A field of a dialog that was closed a moment ago may have the focus until the dialog is gone.
  if (target instanceof Element && target.closest("dialog:not([open])")) return false;
  return target instanceof HTMLInputElement
    ? !["checkbox", "radio", "range", "color"].includes(target.type)
    : target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
