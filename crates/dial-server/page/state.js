// What all views share: the project, who labels, and news from the server.

import * as api from "./api.js";
import { calmly } from "./dom.js";
import { listen as news } from "./line.js";
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

/**
 * Adds a class and says which one it became.
 * @param {string} name
 * @returns {Promise<ClassInfo>}
 */
export async function addClass(name) {
  const there = shared.project.classes.find((one) => one.name === name.trim());
  if (there) return there;
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
