// Dialogs: who labels, the keys, the classes. Each is a native dialog, so focus and Escape are as people expect.

import { browsers } from "./browsers.js";
import { dot } from "./classes.js";
import { at, foreign, make, toast } from "./dom.js";
import { ALSO, commands, named, resetCommands, setCommand, unfinished } from "./keys.js";
import { complain } from "./refusals.js";
import { addClass, annotator, classAlike, onNews, refresh, setAnnotator, shared, submit } from "./state.js";
import { T } from "./strings.js";

/**
 * @param {string} title
 * @param {(close: () => void) => (Node|false)[]} content
 * @param {string} [kind]
 */
export function open(title, content, kind = "") {
  const dialog = make("dialog", { class: kind, aria: { label: title } });
  const close = () => dialog.close();
  const cross = make("button", { class: "quiet icon", type: "button", aria: { label: T.close }, on: { click: close } }, "✕");
  dialog.append(make("header", {}, make("h2", {}, title), cross), ...content(close).filter((node) => node !== false));
  dialog.addEventListener("close", () => {
    // Messages are shown within a dialog while it is open: outside of it nothing could be clicked.
    const below = document.querySelectorAll("dialog[open]");
    (below[below.length - 1] ?? document.body).append(at("toasts"));
    dialog.remove();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  document.body.append(dialog);
  dialog.showModal();
  dialog.append(at("toasts"));
  return dialog;
}

export function askName() {
  const input = make("input", { value: annotator(), maxLength: 200, autocomplete: "name", aria: { label: T.yourName } });
  open(T.yourName, (close) => [
    make("form", { method: "dialog", on: { submit: () => { setAnnotator(input.value.trim()); close(); } } },
      make("p", { class: "soft" }, T.yourNameWhy), make("p", { class: "row" }, input),
      make("footer", {}, make("button", { class: "main" }, T.save))),
    browsers(),
  ]);
  input.select();
}

export function showKeys() {
  const draw = () => /** @type {(keyof ReturnType<typeof commands>)[]} */ (Object.keys(commands())).map((command) => {
    const button = make("button", { type: "button", class: "quiet", data: { command }, on: { click: () => wait(button, command) } }, make("kbd", {}, T.keyName(commands()[command])));
    const also = ALSO[command];
    return make("tr", {}, make("td", {}, button), make("td", {}, also && make("kbd", {}, T.keyName(also))), make("td", {}, T.commands[command]));
  });
  const body = make("tbody", {}, draw());
  /** @type {((event: KeyboardEvent) => void)|null} */
  let waiting = null;
  const wait = (/** @type {HTMLElement} */ button, /** @type {keyof ReturnType<typeof commands>} */ command) => {
    if (waiting) removeEventListener("keydown", waiting, true);
    body.replaceChildren(...draw());
    button = /** @type {HTMLElement} */ (body.querySelector(`[data-command="${command}"]`));
    button.textContent = T.press;
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (unfinished(event)) return;
      event.preventDefault();
      event.stopPropagation();
      removeEventListener("keydown", press, true);
      waiting = null;
      const key = named(event);
      const taken = [...Object.entries(commands()), ...Object.entries(ALSO)].some(([other, has]) => other !== command && has === key)
        || shared.project.classes.some((one) => one.key === key);
      if (event.key !== "Escape" && taken) toast(T.keyTaken(key), "bad");
      else if (event.key !== "Escape") setCommand(command, key);
      body.replaceChildren(...draw());
    };
    waiting = press;
    addEventListener("keydown", press, true);
  };
  const classes = shared.project.classes.filter((one) => one.key).map((one) => make("tr", {}, make("td", {}, make("kbd", {}, one.key)),
    make("td", {}, make("span", { class: "row" }, dot(one), foreign(one.name)))));
  const dialog = open(T.keysTitle, () => [
    make("h3", {}, T.keysHow), make("table", { class: "keys" }, body,
      make("tbody", {}, make("tr", {}, make("td", { colSpan: 2 }, T.scrollKeys.flatMap((one) => [make("kbd", {}, one), " "])), make("td", {}, T.scrolls)))),
    make("h3", {}, T.classKeys), make("table", { class: "keys" }, make("tbody", {}, classes)), make("p", { class: "soft small" }, T.softKey),
    make("footer", {}, make("button", { type: "button", on: { click: () => { resetCommands(); body.replaceChildren(...draw()); } } }, T.keysReset)),
  ]);
  dialog.addEventListener("close", () => { if (waiting) removeEventListener("keydown", waiting, true); });
}

/**
 * Asks what becomes of a class: another takes its labels, or they go with it.
 * @param {import("./types.js").ClassInfo} one @param {(decision: import("./types.js").Decision) => Promise<void>} change
 */
function endClass(one, change) {
  const others = shared.project.classes.filter((other) => other.id !== one.id);
  const into = make("select", { aria: { label: T.mergeInto } }, others.map((other) => make("option", { value: String(other.id) }, other.name)));
  const decide = (/** @type {() => void} */ close, /** @type {import("./types.js").Decision} */ decision) => { close(); change(decision); };
  open(T.endTitle(one.name), (close) => [
    make("p", {}, T.endHow(one.labels)),
    one.labels > 0 && make("p", { class: "row" }, make("label", { class: "field" }, T.mergeInto, into), make("button", { class: "main", type: "button", on: { click: () => decide(close, { kind: "merge-class", from: one.id, into: Number(into.value) }) } }, T.merge)),
    make("p", { class: "row" }, make("button", { type: "button", class: one.labels > 0 ? "" : "main", on: { click: () => decide(close, { kind: "delete-class", class: one.id }) } }, T.endLabels(one.labels))),
    make("p", { class: "soft small" }, T.endUndo),
  ]);
}

/**
 * Asks whether a new class is meant, or one that is there and called almost the same.
 * @param {string} name @param {import("./types.js").ClassInfo} other
 * @param {{how: string, same: string, apart: string}} [words]
 * @returns {Promise<"other"|"new"|null>} Null: neither.
 */
export function askAlike(name, other, words = { how: T.alikeHow(name, other.name), same: T.alikeOther(other.name), apart: T.alikeNew(name) }) {
  return new Promise((resolve) => {
    const dialog = open(T.alikeTitle(other.name), (close) => {
      const choose = (/** @type {"other"|"new"} */ which) => { resolve(which); close(); };
      return [make("p", {}, foreign(words.how)),
        make("footer", { class: "row" }, make("button", { class: "main", type: "button", autofocus: true, on: { click: () => choose("other") } }, foreign(words.same)),
          make("button", { type: "button", on: { click: () => choose("new") } }, foreign(words.apart)))];
    });
    dialog.addEventListener("close", () => resolve(null));
  });
}

export function editClasses() {
  const list = make("tbody");
  const change = async (/** @type {import("./types.js").Decision} */ decision) => {
    try {
      await submit([decision]);
      await refresh();
    } catch (error) {
      complain(error);
    }
    fillList();
  };
  let drawnFrom = "";
  const from = () => JSON.stringify(shared.project.classes.map((one) => [one.id, one.name, one.colour, one.key]));
  const fields = () => /** @type {(HTMLInputElement|HTMLSelectElement)[]} */ ([...list.querySelectorAll("input, select")]);
  /** @type {string[]} */
  let drawnWith = [];
  // What somebody is typing stays until it is left; whatever has the focus keeps it, also when its class has another name now.
  const fillList = () => {
    const place = fields().findIndex((field) => field === document.activeElement);
    if (place >= 0 && fields()[place].value !== drawnWith[place]) {
      list.addEventListener("focusout", () => setTimeout(fillList), { once: true });
      return;
    }
    drawnFrom = from();
    const moved = list.contains(document.activeElement) ? document.activeElement?.getAttribute("data-move") : null;
    list.replaceChildren(...rows());
    drawnWith = fields().map((field) => field.value);
    fields()[place]?.focus({ preventScroll: true });
    // A class that is moved takes the focus along; at the end of the list its other button has it.
    if (moved) {
      const [id] = moved.split(" ");
      const buttons = [...list.querySelectorAll("button")].filter((one) => !one.disabled && one.dataset.move?.split(" ")[0] === id);
      (buttons.find((one) => one.dataset.move === moved) ?? buttons[0])?.focus({ preventScroll: true });
    }
  };
  /** Another name, unless it is almost that of another class and this one belongs to that. @param {import("./types.js").ClassInfo} one @param {HTMLInputElement} input */
  const rename = async (one, input) => {
    const name = input.value.trim();
    if (!name || name === one.name) return;
    const other = shared.project.classes.some((known) => known.name === name) ? undefined : classAlike(name, one.id);
    const meant = other && await askAlike(name, other, { how: T.alikeRename(one.name, name, other.name), same: T.alikeMerge(other.name), apart: T.alikeApart(name) });
    if (other && meant === null) { input.value = one.name; return; }
    await change(other && meant === "other" ? { kind: "merge-class", from: one.id, into: other.id } : { kind: "rename-class", class: one.id, name });
  };
  /** @param {number} from @param {number} to Places in the list. */
  const reorder = (from, to) => {
    const ids = shared.project.classes.map((one) => one.id);
    ids.splice(to, 0, ...ids.splice(from, 1));
    change({ kind: "order-classes", classes: ids });
  };
  const rows = () => shared.project.classes.map((one, _, all) => {
    const look = (/** @type {object} */ with_) => change({ kind: "style-class", class: one.id, colour: one.colour, key: one.key, ...with_ });
    const name = make("input", { value: one.name, maxLength: 200, aria: { label: T.name },
      on: { change: () => rename(one, name) } });
    const colour = make("input", { type: "color", value: one.colour, aria: { label: `${T.colour}: ${one.name}` }, on: { change: () => look({ colour: colour.value }) } });
    const key = make("input", { value: one.key, maxLength: 1, size: 2, aria: { label: `${T.key}: ${one.name}` },
      on: { change: () => {
        const taken = shared.project.classes.some((other) => other.id !== one.id && other.key === key.value && key.value !== "")
          || Object.values(commands()).includes(key.value);
        if (taken) { toast(T.keyTaken(key.value), "bad"); key.value = one.key; } else look({ key: key.value });
      } } });
    const place = all.indexOf(one);
    const move = (/** @type {string} */ sign, /** @type {string} */ words, /** @type {number} */ to) => make("button", { type: "button", class: "quiet icon", title: words, disabled: to < 0 || to >= all.length, data: { move: `${one.id} ${sign}` },
      aria: { label: `${words}: ${one.name}` }, on: { click: () => reorder(place, to) } }, sign);
    const end = make("button", { type: "button", class: "quiet", aria: { label: `${T.endClass} ${one.name}` }, on: { click: () => endClass(one, change) } }, T.endClass);
    return make("tr", {}, make("td", {}, colour), make("td", { class: "wide" }, name), make("td", {}, key), make("td", { class: "number" }, one.labels),
      make("td", { class: "moves" }, move("↑", T.moveUp, place - 1), move("↓", T.moveDown, place + 1)), make("td", {}, end));
  });
  fillList();
  const name = make("input", { placeholder: T.addClass, maxLength: 200, required: true, aria: { label: T.addClass } });
  const add = make("form", { class: "row", on: { submit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      if (await addClass(name.value, askAlike)) name.value = "";
    } catch (error) {
      complain(error);
    }
    fillList();
  } } }, name, make("button", {}, T.add));
  const heads = [T.colour, T.name, T.key, T.labels, T.classOrder, ""].map((words) => make("th", { scope: "col" }, words || make("span", { class: "unseen" }, T.endClass)));
  // Others may change classes too, and so may what a message offers.
  const end = onNews((what) => { if (what === "project" && from() !== drawnFrom) fillList(); });
  const dialog = open(T.classesTitle, () => [make("div", { class: "scroll" }, make("table", { class: "class-rows" }, make("thead", {}, make("tr", {}, heads)), list)), make("p", {}), add], "wide-dialog");
  dialog.addEventListener("close", end);
}
