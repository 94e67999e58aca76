// The page: its frame, its views, its keys. Everything else is in the modules this one puts together.

import { Refusal, newKey, onPlace, post } from "./api.js";
import { at, calmly, draw as svg, fill, foreign, make, saveAs, toast } from "./dom.js";
import { askName, editClasses, showKeys } from "./dialogs.js";
import { commandOf, composing, typing } from "./keys.js";
import * as outbox from "./outbox.js";
import { complain, tellRefusal } from "./refusals.js";
import { scrolled, sideways } from "./scrolling.js";
import { begin, hasLaunchCode, place, project } from "./session.js";
import { annotator, listen, onNews, refresh, shared } from "./state.js";
import { T } from "./strings.js";
import { bulkView } from "./views/bulk.js";
import { exportView } from "./views/export.js";
import { labelView } from "./views/label.js";
import { mapView } from "./views/map.js";
import { progressView } from "./views/progress.js";
import { reviewView } from "./views/review.js";
import { sceneView } from "./views/scene.js";

/** @typedef {import("./types.js").View} View */
/** @typedef {keyof typeof T.views} Name */

/** @type {Partial<Record<Name, () => View>>} */
const makers = { label: labelView, map: mapView, scene: sceneView, bulk: bulkView, review: reviewView, progress: progressView, export: exportView };
/** @type {Map<Name, View>} */
const views = new Map();
/** @type {Name} */
let current = "label";
/** Whether another project is served here: then nothing can be labelled until ours is back. */
let stopped = false;

function names() {
  const all = /** @type {Name[]} */ (Object.keys(makers));
  return all.filter((name) => name !== "scene" || shared.project.item_word === "pixel");
}

/** @param {Name} name */
function show(name) {
  const before = views.get(current);
  if (before && current !== name) before.hide?.();
  current = name;
  if (stopped) return;
  let view = views.get(name);
  if (!view) {
    const maker = makers[name];
    if (!maker) return;
    view = maker();
    views.set(name, view);
  }
  fill(at("main"), view.element);
  document.title = `${T.views[name]} · ${shared.project.name}`;
  drawTabs();
  view.show?.();
}

let tabsFrom = "";

function drawTabs() {
  const from = JSON.stringify([names(), current, shared.project.conflicts]);
  if (from === tabsFrom) return;
  tabsFrom = from;
  fill(at("tabs"), names().map((name) => make("a", { href: `#${name}`, aria: name === current ? { current: "page" } : {} }, T.views[name],
    name === "review" && shared.project.conflicts > 0 && make("span", { class: "badge" }, shared.project.conflicts))));
  at("tabs").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

/** Another project is served at the address of this page, or ours is again. @param {"here"|"elsewhere"} place */
function meet(place) {
  stopped = place === "elsewhere";
  drawBanner();
  if (!stopped) { route(); return; }
  views.get(current)?.hide?.();
  const { waiting } = outbox.state();
  fill(at("main"), make("div", { class: "empty elsewhere", role: "alert" }, make("h2", {}, T.elsewhere), make("p", {}, T.elsewhereHow(shared.project.name, waiting)),
    make("div", { class: "row" }, waiting > 0 && make("button", { type: "button", on: { click: saveFile } }, T.saveFile),
      make("button", { class: "main", type: "button", on: { click: () => location.reload() } }, T.openOther))));
}

function route() {
  if (hasLaunchCode()) return;
  // The link past the header leads to the view that is shown.
  if (location.hash === "#main") { at("main").focus(); return; }
  const wanted = /** @type {Name} */ (location.hash.slice(1));
  show(names().includes(wanted) ? wanted : "label");
}

function drawFrame() {
  const { project } = shared;
  at("name").textContent = project.name;
  at("name").title = project.name;
  at("count").textContent = T.labelled(project.labelled, project.items);
  fill(at("person"), svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("circle", { cx: 8, cy: 5, r: 3 }), svg("path", { d: "M2 15a6 6 0 0 1 12 0z" })),
    make("span", { class: "who" }, annotator() || T.yourName));
  at("person").setAttribute("aria-label", annotator() ? T.you(annotator()) : T.yourName);
  at("person").title = T.yourNameWhy;
  drawBanner();
  drawTabs();
}

let bannerFrom = "";

/** What people must know before they go on: first what could lose answers. */
function drawBanner() {
  const { waiting, unkept, trouble } = outbox.state();
  const troubles = { none: null, offline: null, "signed-out": T.signedOut(waiting), elsewhere: T.elsewhereHow(shared.project.name, waiting), unproven: T.unprovenLong(waiting) };
  // Where the page says itself that another project is here, the banner need not.
  const text = stopped ? null : unkept ? T.unkept(unkept) : troubles[trouble] ?? (shared.online ? shared.project.banner : T.offlineLong(waiting));
  const stuck = waiting > 0 && (unkept > 0 || trouble !== "none" || !shared.online);
  // Labels that are there already are offered, until somebody takes or refuses them here.
  const offered = !text && !stopped && shared.project.known > 0 && !localStorage.getItem(knownKey()) ? shared.project.known : 0;
  const alike = offered ? shared.project.known_alike : [];
  const from = JSON.stringify([text, stuck, offered, alike]);
  if (from === bannerFrom) return;
  bannerFrom = from;
  at("banner").classList.toggle("offer", offered > 0);
  at("banner").setAttribute("role", offered ? "status" : "alert");
  const button = (/** @type {string} */ words, /** @type {() => void} */ work) => make("button", { type: "button", on: { click: work } }, words);
  fill(at("banner"), make("span", {}, offered ? T.known(offered, shared.project.items, shared.project.item_word) : text ?? "", alike.length > 0 && foreign(` ${T.knownAlike(alike)}`)), stuck && button(T.saveFile, saveFile),
    offered > 0 && button(T.knownUse, useKnown), offered > 0 && button(T.knownIgnore, ignoreKnown));
  at("banner").hidden = !text && !offered;
}

const knownKey = () => `dial-known-${shared.project.id}`;

function ignoreKnown() {
  localStorage.setItem(knownKey(), "ignored");
  drawBanner();
}

/** Takes over the labels that the pool itself has. */
async function useKnown() {
  try {
    const imported = await post("import", { of_pool: true, key: newKey(), annotator: null });
    toast(T.knownTaken(imported.labels), "good");
    await refresh();
  } catch (error) {
    complain(error);
  }
}

/** What waits as a file, for whoever must close the browser before the server is back. */
function saveFile() {
  saveAs(new Blob([outbox.written()], { type: "application/json" }), `${shared.project.name}-answers.json`);
}

/** @param {outbox.State} state */
function drawSaved(state) {
  const place = at("saved");
  const trouble = state.trouble !== "none" || !shared.online;
  place.className = `saved ${trouble ? "bad" : state.waiting ? "busy" : "good"}`;
  const text = state.trouble === "signed-out" ? T.signedOutShort : trouble ? T.offline(state.waiting) : state.waiting ? T.saving(state.waiting) : T.saved;
  if (place.textContent !== text) place.textContent = text;
  place.dataset.waiting = String(state.waiting);
  drawBanner();
}

/** @param {KeyboardEvent} event */
function key(event) {
  if (stopped || event.defaultPrevented || composing(event) || document.querySelector("dialog[open]") || typing(event.target)) return;
  // A slider has the arrows for itself.
  if (event.target instanceof HTMLInputElement && event.key.startsWith("Arrow")) return;
  const command = commandOf(event);
  // A focused button is pressed by Enter and Space as everywhere.
  const pressed = event.target instanceof Element && event.target.closest("button, a, select, summary, input");
  const ticks = pressed && pressed.getAttribute("role") === "checkbox";
  if (pressed && (event.key === " " || (event.key === "Enter" && !ticks))) return;
  if (command === "help") showKeys();
  else if (command === "before" || command === "after") {
    const all = names();
    location.hash = all[(all.indexOf(current) + (command === "after" ? 1 : all.length - 1)) % all.length];
  } else {
    const view = views.get(current);
    if (!view?.key?.(event) && !(view && scrolled(event, view.element))) return;
  }
  event.preventDefault();
}

function themes() {
  const root = document.documentElement;
  const set = (/** @type {string|null} */ theme) => {
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  };
  // What is drawn by hand has no colours of its own that follow.
  const changed = () => { for (const view of views.values()) view.changed?.("project"); };
  set(localStorage.getItem("dial-theme"));
  at("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    localStorage.setItem("dial-theme", dark ? "light" : "dark");
    set(dark ? "light" : "dark");
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

async function start() {
  themes();
  // A new link that is opened in this very tab only changes what is behind the #.
  addEventListener("hashchange", () => { if (hasLaunchCode()) location.reload(); });
  fill(at("theme"), "◐");
  for (const [id, words] of Object.entries({ theme: T.theme, help: T.help, person: T.yourName })) {
    at(id).title = words;
    at(id).setAttribute("aria-label", words);
  }
  at("skip-link").textContent = T.skipLink;
  at("tabs").setAttribute("aria-label", T.viewsLabel);
  sideways(at("tabs"));
  at("person").addEventListener("click", askName);
  at("help").addEventListener("click", showKeys);
  try {
    if (!await begin()) throw new Refusal(401, "", "");
    await refresh();
  } catch (error) {
    const out = error instanceof Refusal && error.status === 401;
    fill(at("main"), make("div", { class: "empty" }, make("h2", {}, out ? T.signedOutShort : T.broken), make("p", {}, out ? T.signedOutStart : String(/** @type {Error} */ (error).message)),
      make("button", { class: "main", on: { click: () => location.reload() } }, T.retry)));
    return;
  }
  outbox.onState(drawSaved);
  await outbox.open(project(), place(), (submission, refusal) => {
    tellRefusal(submission, refusal);
    refresh().catch(() => {});
  });
  addEventListener("beforeunload", (event) => { if (outbox.state().waiting) event.preventDefault(); });
  if (!outbox.state().lasting) toast(T.lost, "bad");
  // News come in crowds while somebody labels fast; what they change is drawn at most a few times a second.
  /** @type {Set<"project"|"log"|"model"|"map">} */
  const news = new Set();
  const spread = calmly(() => {
    const heard = [...news];
    news.clear();
    for (const what of heard) for (const view of views.values()) view.changed?.(what);
  }, 120);
  onNews((what) => {
    drawFrame();
    drawSaved(outbox.state());
    if (what === "line") return;
    news.add(what);
    spread();
  });
  onPlace(meet);
  drawFrame();
  listen();
  addEventListener("hashchange", route);
  addEventListener("keydown", key);
  addEventListener("dial-edit-classes", editClasses);
  route();
}

start();
