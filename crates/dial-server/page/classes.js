// Classes to choose from: buttons with their keys, a box to find one among many, and a mark for those whose colours are alike.

import { fill, foreign, make } from "./dom.js";
import { classOfKey, commandOf, commands, composing } from "./keys.js";
import { shared } from "./state.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").ClassInfo} ClassInfo */

/** Classes up to which all of them are seen at a glance. */
const FEW_CLASSES = 12;

/** The colour of a class, in a shape of its own where several have that colour. @param {{colour: string, shape?: number}} known */
export function dot(known) {
  return make("span", { class: "dot", style: { "--hue": known.colour }, data: { shape: String(known.shape ?? 0) }, aria: { hidden: "true" } });
}

/** What the colours mean, drawn into a list. @param {Element} list */
export function drawLegend(list) {
  fill(list, shared.project.classes.map((one) => make("li", { title: one.name }, dot(one), foreign(one.name))),
    make("li", { class: "soft" }, make("span", { class: "dot unexplored", data: { shape: "0" }, aria: { hidden: "true" } }), T.unexplored));
}

/** The classes whose name holds a text, those first that begin with it. @param {ClassInfo[]} classes @param {string} text */
export function matching(classes, text) {
  const wanted = text.trim().toLowerCase();
  const place = (/** @type {ClassInfo} */ one) => one.name.toLowerCase().indexOf(wanted);
  return classes.filter((one) => place(one) >= 0).sort((a, b) => Number(place(a) > 0) - Number(place(b) > 0));
}

export class Picker {
  /**
   * @param {(known: ClassInfo, soft: boolean) => void} choose
   * @param {() => (Node|false|null)[]} [more] What stands after the buttons.
   */
  constructor(choose, more = () => []) {
    this.choose = choose;
    this.more = more;
    this.buttons = make("div", { class: "classes", role: "group", aria: { label: T.classes } });
    this.input = make("input", { type: "search", placeholder: T.findClass, aria: { label: T.findClass }, on: {
      input: () => this.draw(), keydown: (/** @type {KeyboardEvent} */ event) => this.typed(event) } });
    this.find = make("label", { class: "find" }, this.input, make("kbd", {}, commands().find));
    this.element = make("div", { class: "picker" }, this.find, this.buttons);
    /** What the buttons were drawn from: while that is the same they stay, so that a click on one is never lost. */
    this.from = "";
    /** @type {Set<number>|null} */
    this.pressed = null;
    /** @type {Map<number, number>} */
    this.effects = new Map();
  }

  /** @param {{pressed?: Set<number>|null, effects?: Map<number, number>}} [how] Draws again where something is another now. */
  draw(how = {}) {
    const { pressed = this.pressed, effects = this.effects } = how;
    [this.pressed, this.effects] = [pressed, effects];
    const all = shared.project.classes;
    const many = all.length > FEW_CLASSES;
    this.find.hidden = !many;
    if (!many) this.input.value = "";
    const found = many ? matching(all, this.input.value) : all;
    const narrowed = many && this.input.value.trim() !== "";
    const from = JSON.stringify([found.map((one) => [one.id, one.name, one.colour, one.key, one.shape]), pressed ? [...pressed] : null, narrowed, commands().find]);
    if (from !== this.from) {
      this.from = from;
      const shaped = all.some((one) => one.shape);
      fill(this.buttons, found.map((one, i) => this.button(one, shaped, narrowed && i === 0)), narrowed && !found.length && make("p", { class: "hint" }, T.findNone), this.more());
      this.buttons.classList.toggle("many", many);
      fill(/** @type {Element} */ (this.find.lastElementChild), commands().find);
    }
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.buttons.querySelectorAll(".class"))) {
      const effect = effects.get(Number(button.dataset.class));
      const place = button.querySelector(".effect");
      if (place) place.textContent = effect === undefined ? "" : T.changeShort(effect);
      const name = button.querySelector(".name")?.textContent ?? "";
      button.title = effect === undefined ? name : `${name}: ${T.change(effect)}`;
    }
  }

  /** @param {ClassInfo} one @param {boolean} shaped @param {boolean} first Whether Enter takes it. */
  button(one, shaped, first) {
    return make("button", {
      class: first ? "class next" : "class", type: "button", style: { "--hue": one.colour }, data: { class: String(one.id) },
      aria: this.pressed ? { pressed: this.pressed.has(one.id) } : {},
      on: { click: (/** @type {MouseEvent} */ event) => this.choose(one, event.shiftKey) },
    }, make("kbd", {}, first ? "Enter" : one.key || "·"), shaped && dot(one), make("span", { class: "name" }, foreign(one.name)), make("span", { class: "effect" }));
  }

  /** @param {KeyboardEvent} event A key within the box. */
  typed(event) {
    if ((event.key !== "Enter" && event.key !== "Escape") || composing(event)) return;
    event.preventDefault();
    const [first] = matching(shared.project.classes, this.input.value);
    if (event.key === "Enter" && (!first || !this.input.value.trim())) return;
    this.input.value = "";
    this.input.blur();
    this.draw();
    if (event.key === "Enter") this.choose(first, event.shiftKey);
  }

  /** @param {KeyboardEvent} event @returns {boolean} Whether it was the key of a class, or the one to find classes. */
  key(event) {
    if (commandOf(event) === "find" && !this.find.hidden) {
      this.input.focus();
      return true;
    }
    const found = classOfKey(event, shared.project.classes);
    if (!found || event.repeat) return false;
    this.choose(found.known, found.soft);
    return true;
  }
}
