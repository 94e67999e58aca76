// What all views share: the project, who labels, and news from the server.

import * as api from "./api.js";
import { calmly } from "./dom.js";
import { listen as news } from "./news.js";
import { decide, send } from "./outbox.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").Project} Project */
/** @typedef {import("./types.js").ClassInfo} ClassInfo */
/** @typedef {import("./types.js").Decision} Decision */
/** @typedef {import("./types.js").Stored} Stored */
/** @typedef {"project"|"log"|"model"|"map"|"line"} News */

/** @type {{project: Project, online: boolean, asked: number, review: keyof typeof T.tabs}} `asked` is the row of the item on the label view, or -1; `review` what Review shows. */
export const shared = { project: /** @type {any} */ (null), online: true, asked: -1, review: "suspects" };

/** @type {Set<(what: News) => void>} */
const listeners = new Set();

/** @param {(what: News) => void} listener @returns {() => void} Ends it. */
export function onNews(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {News} what */
function tell(what) {
  for (const listener of listeners) listener(what);
}

/** A name without what people vary when they mean the same: case, accents, spaces and marks between words, a plural. @param {string} name */
function core(name) {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[\s_.-]+/g, "");
  return plain.length > 3 ? plain.replace(/(?<=[sxz]|ch|sh)es$|(?<!s)s$/, "") : plain;
}

/** Letters from which on a slip of one makes no other word. */
const LONG = 5;

/** Whether two names are likely to mean the same class: the same but for what people vary, or a slip of one letter. @param {string} a @param {string} b */
export function areAlike(a, b) {
  const [x, y] = [core(a), core(b)];
  if (x === y) return x !== "";
  if (Math.min(x.length, y.length) < LONG || Math.abs(x.length - y.length) > 1 || /\d/.test(x + y)) return false;
  let start = 0;
  while (start < x.length && x[start] === y[start]) start++;
  const rest = (/** @type {string} */ text, /** @type {number} */ more) => text.slice(start + more);
  const swapped = x[start] === y[start + 1] && x[start + 1] === y[start] && rest(x, 2) === rest(y, 2);
  return swapped || rest(x, 1) === rest(y, 1) || rest(x, 1) === rest(y, 0) || rest(x, 0) === rest(y, 1);
}

/** Who labels here. */
export function annotator() {
  return localStorage.getItem("dial-annotator") ?? "";
}

/** @param {string} name */
export function setAnnotator(name) {
  localStorage.setItem("dial-annotator", name);
  tell("project");
}

/** Shapes of marks, for classes that share a colour. */
const SHAPES = 8;

/** The classes, each with the shape that no earlier class of its colour has. @param {import("./types.js").Schemas["ClassInfo"][]} classes @returns {ClassInfo[]} */
function shaped(classes) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return classes.map((one) => {
    const before = seen.get(one.colour) ?? 0;
    seen.set(one.colour, before + 1);
    return { ...one, shape: before % SHAPES };
  });
}

/** Reads the project again. */
export async function refresh() {
  const found = await api.get("project");
  // A page is of one project for as long as it lives: its classes and rows mean something else in another one.
  if (shared.project && found.id !== shared.project.id) throw new api.Refusal(409, "C8", T.elsewhere);
  // Answers may overtake each other.
  if (!shared.project || found.version >= shared.project.version) shared.project = { ...found, classes: shaped(found.classes) };
  tell("project");
  return shared.project;
}

/** Reads it again soon, once for a crowd of news. */
const refreshSoon = calmly(() => { refresh().catch(() => {}); }, 150);

/** @param {number} id @returns {ClassInfo} */
export function classOf(id) {
  const found = shared.project.classes.find((one) => one.id === id);
  return found ?? { id, name: "?", colour: "#888888", key: "", labels: 0, shape: 0 };
}

/** An answer as people say it. @param {import("./types.js").Share[]} classes */
export function saidOf(classes) {
  return T.answered(classes.map((share) => classOf(share.class).name), classes.length > 1 || classes.some((share) => share.weight < 1));
}

/**
 * Submits decisions in the name of whoever labels here.
 * @param {Decision[]} decisions
 * @param {{key?: string, replace?: boolean}} [how]
 * @returns {Promise<Stored>}
 */
export function submit(decisions, how = {}) {
  const submission = { key: how.key ?? api.newKey(), annotator: annotator(), decisions, replace: how.replace ?? false };
  return decide(submission);
}

/** A class that is called almost like that. @param {string} name @param {number} [id] A class that is not meant. @returns {ClassInfo|undefined} */
export function classAlike(name, id) {
  return shared.project.classes.find((one) => one.id !== id && areAlike(one.name, name));
}

/**
 * Adds a class and says which one it became: one that is there, if that is meant; none, if neither is.
 * @param {string} name
 * @param {(name: string, other: ClassInfo) => Promise<"other"|"new"|null>} ask Where a class is called almost the same.
 * @returns {Promise<ClassInfo|null>}
 */
export async function addClass(name, ask) {
  const there = shared.project.classes.find((one) => one.name === name.trim());
  if (there) return there;
  const alike = classAlike(name);
  const meant = alike ? await ask(name.trim(), alike) : "new";
  if (alike && meant === "other") return alike;
  if (meant === null) return null;
  await submit([{ kind: "add-class", name: name.trim() }]);
  const project = await refresh();
  const found = project.classes.find((one) => one.name === name.trim());
  if (!found) throw new Error(T.classGone);
  return found;
}

addEventListener("storage", (event) => { if (event.key === "dial-annotator" && shared.project) tell("project"); });

/** Listens to the server for as long as the page lives. */
export function listen() {
  const line = (/** @type {boolean} */ online) => {
    if (shared.online === online) return;
    shared.online = online;
    tell("line");
    if (online) catchUp();
  };
  const catchUp = () => {
    send();
    refresh().catch(() => {});
  };
  news((what) => {
    if (what === "open" || what === "lost") return line(what === "open");
    if (what !== "map") refreshSoon();
    tell(what);
  });
  // A tab that was asleep may have missed something.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && shared.online) { catchUp(); tell("log"); } });
}
