// Making elements. Text only ever becomes text: there is no way from a string to markup in this page.

import { T } from "./strings.js";

/** @typedef {Node|string|number|null|undefined|false} Child */

/**
 * An element with properties and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [given] `class`, `data`, `on`, `aria`, `style` or a property of the element.
 * @param {...(Child|Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  dress(element, given);
  fill(element, ...children);
  return element;
}

/**
 * The same for drawings.
 * @param {string} tag
 * @param {Record<string, any>} [given] Attributes.
 * @param {...(Child|Child[])} children
 * @returns {SVGElement}
 */
export function draw(tag, given = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) {
    if (name === "style") Object.assign(element.style, value);
    else if (name === "on") listen(element, value);
    else if (value !== undefined && value !== null) element.setAttribute(name, String(value));
  }
  fill(element, ...children);
  return element;
}

/** @param {HTMLElement} element @param {Record<string, any>} given */
function dress(element, given) {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "on") listen(element, value);
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (name === "aria") for (const [key, one] of Object.entries(value)) element.setAttribute(`aria-${key}`, String(one));
    else if (name === "role" || name === "for" || name === "list") element.setAttribute(name, value);
    else /** @type {any} */ (element)[name] = value;
  }
}

/** @param {Element} element @param {Record<string, (event: any) => void>} listeners */
function listen(element, listeners) {
  for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener);
}

/**
 * Puts children in the place of what is there.
 * @param {Element} element
 * @param {...(Child|Child[])} children
 */
export function fill(element, ...children) {
  const focus = focused(element);
  const nodes = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...nodes.map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  focus?.();
}

/** What can have the focus. */
const FOCUSABLE = "a, button, input, select, textarea, summary, [tabindex]";

/**
 * Brings the focus back to the element that takes the place of the one that has it, if there is such a one.
 * @param {Element} element Whose children are about to change.
 * @returns {(() => void)|null}
 */
function focused(element) {
  const active = document.activeElement;
  if (!active || active === element || !element.contains(active)) return null;
  const sign = (/** @type {Element} */ one) => [one.tagName, one.id, one.getAttribute("aria-label") ?? one.textContent].join("|");
  const alike = () => [...element.querySelectorAll(FOCUSABLE)].filter((one) => sign(one) === wanted);
  const wanted = sign(active);
  const place = alike().indexOf(active);
  return () => /** @type {HTMLElement|undefined} */ (alike()[place])?.focus({ preventScroll: true });
}

/** Hands a file to the browser, to be saved. @param {Blob} file @param {string} name */
export function saveAs(file, name) {
  const url = URL.createObjectURL(file);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A text of somebody else's, kept from changing the direction of what surrounds it. @param {string} text */
export function foreign(text) {
  return make("bdi", {}, text);
}

/** The element with an id, which the page has. @param {string} id */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

/** What was announced a moment ago: it is said together with what comes right after it. */
let [said, saidAt] = ["", -Infinity];

/** Tells people who do not see the screen. @param {string} text */
export function announce(text) {
  const now = performance.now();
  at("live").textContent = now - saidAt < 1500 && said !== text ? `${said}. ${text}` : text;
  [said, saidAt] = [text, now];
}

/**
 * A message that goes away; one that offers something stays until it is answered or closed.
 * @param {string} text @param {"good"|"bad"|"plain"} [mood] @param {[string, () => void][]} [offers]
 */
export function toast(text, mood = "plain", offers = []) {
  const box = at("toasts");
  // The same is not said twice at once.
  for (const other of [...box.children]) if (other.firstElementChild?.textContent === text) other.remove();
  const close = () => one.remove();
  const button = (/** @type {string} */ words, /** @type {() => void} */ work) => make("button", { type: "button", on: { click: () => { close(); work(); } } }, words);
  const one = make("div", { class: `toast ${mood}`, role: mood === "bad" ? "alert" : "status" }, make("p", {}, text),
    offers.length > 0 && make("div", { class: "row" }, offers.map(([words, work]) => button(words, work)), button(T.later, () => {})));
  box.append(one);
  while (box.childElementCount > 3) box.firstElementChild?.remove();
  if (!offers.length) setTimeout(close, mood === "bad" ? 9000 : 4000);
}

/**
 * Calls a function at most once in a while, and always after the last call.
 * @param {() => void} work @param {number} wait
 */
export function calmly(work, wait) {
  let timer = 0;
  let last = -Infinity;
  return () => {
    clearTimeout(timer);
    const due = Math.max(0, last + wait - performance.now());
    timer = setTimeout(() => { last = performance.now(); work(); }, due);
  };
}
