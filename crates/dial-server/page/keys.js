// Which key does what. Classes have letters and digits; commands have the other keys, so that the two never meet.

/** @typedef {"undo"|"redo"|"skip"|"exclude"|"unsure"|"add"|"find"|"help"|"before"|"after"|"zoom"} Command */

/** @type {Record<Command, string>} */
const USUAL = {
  undo: "Backspace", redo: "Shift+Backspace", skip: "Space", exclude: "Delete", unsure: "Enter", add: "+", find: "/", help: "?",
  before: "[", after: "]", zoom: "=",
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

/** @param {KeyboardEvent} event @returns {Command|null} */
export function commandOf(event) {
  if (event.ctrlKey || event.metaKey) {
    const letter = event.key.toLowerCase();
    if (letter === "z") return event.shiftKey ? "redo" : "undo";
    return letter === "y" ? "redo" : null;
  }
  if (event.altKey) return null;
  const name = named(event);
  const found = Object.entries(commands()).find(([, key]) => key === name);
  return found ? /** @type {Command} */ (found[0]) : null;
}

/**
 * The class a key means, and whether it was said with Shift: unsure.
 * The place of the key counts where its character does not, so that Shift+1 is the class of 1 on every keyboard.
 * @template {{key: string}} C
 * @param {KeyboardEvent} event
 * @param {C[]} classes
 * @returns {{known: C, soft: boolean}|null}
 */
export function classOfKey(event, classes) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const of = (/** @type {string} */ key) => classes.find((one) => one.key !== "" && one.key === key);
  const exact = of(event.key);
  if (exact) return { known: exact, soft: false };
  // Caps Lock, other alphabets, and digits that need Shift: then the place of the key says what is meant.
  const place = event.code.replace(/^(Key|Digit|Numpad)/, "").toLowerCase();
  const letter = /^[a-z0-9]$/i.test(event.key);
  const known = of(event.key.toLowerCase()) ?? (letter ? undefined : of(place));
  return known ? { known, soft: event.shiftKey && !event.getModifierState("CapsLock") } : null;
}

/** Whether somebody is typing. @param {EventTarget|null} target */
export function typing(target) {
  // A field of a dialog that was closed a moment ago may have the focus until the dialog is gone.
  if (target instanceof Element && target.closest("dialog:not([open])")) return false;
  return target instanceof HTMLInputElement
    ? !["checkbox", "radio", "range", "color"].includes(target.type)
    : target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
