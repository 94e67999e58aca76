// Dialogs: who labels, the keys, the classes. Each is a native dialog, so focus and Escape are as people expect.

import { dot } from "./classes.js";
import { at, foreign, make, toast } from "./dom.js";
import { commands, named, resetCommands, setCommand } from "./keys.js";
import { complain } from "./refusals.js";
import { addClass, annotator, onNews, refresh, setAnnotator, shared, submit } from "./state.js";
import { T } from "./strings.js";

/**
 * @param {string} title
 * @param {(close: () => void) => (Node|false)[]} content
 * @param {string} [kind]
 */
function open(title, content, kind = "") {
  const dialog = make("dialog", { class: kind, aria: { label: title } });
  const close = () => dialog.close();
  const cross = make("button", { class: "quiet icon", type: "button", aria: { label: T.close }, on: { click: close } }, "✕");
  dialog.append(make("header", {}, make("h2", {}, title), cross), ...content(close).filter((node) => node !== false));
  dialog.addEventListener("close", () => {
    // Messages are shown within a dialog while it is open: outside of it nothing could be clicked.
    document.body.append(at("toasts"));
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
  ]);
  input.select();
}

export function showKeys() {
  const draw = () => /** @type {(keyof ReturnType<typeof commands>)[]} */ (Object.keys(commands())).map((command) => {
    const button = make("button", { type: "button", class: "quiet", data: { command }, on: { click: () => wait(button, command) } }, make("kbd", {}, commands()[command]));
    return make("tr", {}, make("td", {}, button), make("td", {}, T.commands[command]));
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
      if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      removeEventListener("keydown", press, true);
      waiting = null;
      const key = named(event);
      const taken = Object.entries(commands()).some(([other, has]) => other !== command && has === key)
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
    make("h3", {}, T.keysHow), make("table", { class: "keys" }, body),
    make("h3", {}, T.classKeys), make("table", { class: "keys" }, make("tbody", {}, classes)), make("p", { class: "soft small" }, T.softKey),
    make("footer", {}, make("button", { type: "button", on: { click: () => { resetCommands(); body.replaceChildren(...draw()); } } }, T.keysReset)),
  ]);
  dialog.addEventListener("close", () => { if (waiting) removeEventListener("keydown", waiting, true); });
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
    list.replaceChildren(...rows());
    drawnWith = fields().map((field) => field.value);
    fields()[place]?.focus({ preventScroll: true });
  };
  const rows = () => shared.project.classes.map((one) => {
    const look = (/** @type {object} */ with_) => change({ kind: "style-class", class: one.id, colour: one.colour, key: one.key, ...with_ });
    const name = make("input", { value: one.name, maxLength: 200, aria: { label: T.name },
      on: { change: () => name.value.trim() && name.value.trim() !== one.name && change({ kind: "rename-class", class: one.id, name: name.value.trim() }) } });
    const colour = make("input", { type: "color", value: one.colour, aria: { label: `${T.colour}: ${one.name}` }, on: { change: () => look({ colour: colour.value }) } });
    const key = make("input", { value: one.key, maxLength: 1, size: 2, aria: { label: `${T.key}: ${one.name}` },
      on: { change: () => {
        const taken = shared.project.classes.some((other) => other.id !== one.id && other.key === key.value && key.value !== "")
          || Object.values(commands()).includes(key.value);
        if (taken) { toast(T.keyTaken(key.value), "bad"); key.value = one.key; } else look({ key: key.value });
      } } });
    const merge = make("select", { aria: { label: `${T.mergeInto} ${one.name}` }, on: { change: () => {
      const into = shared.project.classes.find((other) => String(other.id) === merge.value);
      if (into && confirm(T.mergeSure(one.name, into.name))) change({ kind: "merge-class", from: one.id, into: into.id });
      else merge.value = "";
    } } }, make("option", { value: "" }, T.mergeInto),
      shared.project.classes.filter((other) => other.id !== one.id).map((other) => make("option", { value: String(other.id) }, other.name)));
    return make("tr", {}, make("td", {}, colour), make("td", { class: "wide" }, name), make("td", {}, key), make("td", { class: "number" }, one.labels), make("td", {}, merge));
  });
  fillList();
  const name = make("input", { placeholder: T.addClass, maxLength: 200, required: true, aria: { label: T.addClass } });
  const add = make("form", { class: "row", on: { submit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await addClass(name.value);
      name.value = "";
    } catch (error) {
      complain(error);
    }
    fillList();
  } } }, name, make("button", {}, T.add));
  const heads = [T.colour, T.name, T.key, T.labels, ""].map((words) => make("th", { scope: "col" }, words || make("span", { class: "unseen" }, T.mergeInto)));
  // Others may change classes too, and so may what a message offers.
  const end = onNews((what) => { if (what === "project" && from() !== drawnFrom) fillList(); });
  const dialog = open(T.classesTitle, () => [make("div", { class: "scroll" }, make("table", { class: "class-rows" }, make("thead", {}, make("tr", {}, heads)), list)), make("p", {}), add], "wide-dialog");
  dialog.addEventListener("close", end);
}
