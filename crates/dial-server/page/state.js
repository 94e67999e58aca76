// What all views share: the project, who labels, and news from the server.

import * as api from "./api.js";
import { calmly } from "./dom.js";
import { decide, send } from "./outbox.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").Project} Project */
/** @typedef {import("./types.js").ClassInfo} ClassInfo */
/** @typedef {import("./types.js").Deed} Deed */
/** @typedef {import("./types.js").Stored} Stored */
/** @typedef {"project"|"log"|"model"|"map"|"line"} News */

/** @type {{project: Project, online: boolean, asked: number}} `asked` is the row of the item on the label view, or -1. */
export const shared = { project: /** @type {any} */ (null), online: true, asked: -1 };

/** @type {Set<(what: News) => void>} */
const listeners = new Set();

/** @param {(what: News) => void} listener */
export function onNews(listener) {
  listeners.add(listener);
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

/** Reads the project again. */
export async function refresh() {
  const found = await api.get("project");
  // Answers may overtake each other.
  if (!shared.project || found.version >= shared.project.version) shared.project = found;
  tell("project");
  return shared.project;
}

/** Reads it again soon, once for a crowd of news. */
const refreshSoon = calmly(() => { refresh().catch(() => {}); }, 150);

/** @param {number} id @returns {ClassInfo} */
export function classOf(id) {
  const found = shared.project.classes.find((one) => one.id === id);
  return found ?? { id, name: "?", colour: "#888888", key: "", labels: 0 };
}

/**
 * Submits decisions in the name of whoever labels here.
 * @param {Deed[]} decisions
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
  await submit([{ kind: "add-class", name: name.trim() }]);
  const project = await refresh();
  const found = project.classes.find((one) => one.name === name.trim());
  if (!found) throw new Error(T.classGone);
  return found;
}

addEventListener("storage", (event) => { if (event.key === "dial-annotator" && shared.project) tell("project"); });

/** Listens to the server for as long as the page lives. */
export function listen() {
  const stream = new EventSource("/api/v1/changes");
  const heard = (/** @type {boolean} */ online) => {
    if (shared.online !== online) {
      shared.online = online;
      tell("line");
      if (online) {
        send();
        refresh().catch(() => {});
      }
    }
  };
  stream.addEventListener("open", () => heard(true));
  stream.addEventListener("log", () => { refreshSoon(); tell("log"); });
  stream.addEventListener("model", () => { refreshSoon(); tell("model"); });
  stream.addEventListener("map", () => tell("map"));
  stream.addEventListener("error", () => {
    heard(false);
    // A browser gives up after an answer that is no stream (signed out, restarted): then we try again.
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  });
}
