// The page: its frame, its views, its keys. Everything else is in the modules this one puts together.

import { Refusal } from "./api.js";
import { at, calmly, draw as svg, fill, make, toast } from "./dom.js";
import { askName, editClasses, showKeys } from "./dialogs.js";
import { commandOf, typing } from "./keys.js";
import * as outbox from "./outbox.js";
import { tellRefusal } from "./refusals.js";
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

function names() {
  const all = /** @type {Name[]} */ (Object.keys(makers));
  return all.filter((name) => name !== "scene" || shared.project.item_word === "pixel");
}

/** @param {Name} name */
function show(name) {
  const before = views.get(current);
  if (before && current !== name) before.hide?.();
  current = name;
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
  at("tabs").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function route() {
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
  const text = unkept ? T.unkept(unkept) : trouble === "signed-out" ? T.signedOut(waiting) : shared.online ? shared.project.banner : T.offlineLong(waiting);
  const stuck = waiting > 0 && (unkept > 0 || trouble !== "none" || !shared.online);
  const from = JSON.stringify([text, stuck]);
  if (from === bannerFrom) return;
  bannerFrom = from;
  fill(at("banner"), make("span", {}, text ?? ""), stuck && make("button", { type: "button", on: { click: saveFile } }, T.saveFile));
  at("banner").hidden = !text;
}

/** What waits as a file, for whoever must close the browser before the server is back. */
function saveFile() {
  const url = URL.createObjectURL(new Blob([outbox.written()], { type: "application/json" }));
  make("a", { href: url, download: `${shared.project.name}-answers.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
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
  if (event.defaultPrevented || document.querySelector("dialog[open]") || typing(event.target)) return;
  const command = commandOf(event);
  // A focused button is pressed by Enter and Space as everywhere.
  const pressed = event.target instanceof Element && event.target.closest("button, a, select, summary, input");
  const ticks = pressed && pressed.getAttribute("role") === "checkbox";
  if (pressed && (event.key === " " || (event.key === "Enter" && !ticks))) return;
  if (command === "help") showKeys();
  else if (command === "before" || command === "after") {
    const all = names();
    location.hash = all[(all.indexOf(current) + (command === "after" ? 1 : all.length - 1)) % all.length];
  } else if (!views.get(current)?.key?.(event)) return;
  event.preventDefault();
}

function themes() {
  const root = document.documentElement;
  const set = (/** @type {string|null} */ theme) => {
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  };
  set(localStorage.getItem("dial-theme"));
  at("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    localStorage.setItem("dial-theme", dark ? "light" : "dark");
    set(dark ? "light" : "dark");
    for (const view of views.values()) view.changed?.("project");
  });
}

async function start() {
  themes();
  fill(at("theme"), "◐");
  for (const [id, words] of Object.entries({ theme: T.theme, help: T.help, person: T.yourName })) {
    at(id).title = words;
    at(id).setAttribute("aria-label", words);
  }
  at("skip-link").textContent = T.skipLink;
  at("tabs").setAttribute("aria-label", T.viewsLabel);
  at("person").addEventListener("click", askName);
  at("help").addEventListener("click", showKeys);
  try {
    await refresh();
  } catch (error) {
    const out = error instanceof Refusal && error.status === 401;
    fill(at("main"), make("div", { class: "empty" }, make("h2", {}, out ? T.signedOutShort : T.broken), make("p", {}, out ? T.signedOutStart : String(/** @type {Error} */ (error).message)),
      make("button", { class: "main", on: { click: () => location.reload() } }, T.retry)));
    return;
  }
  outbox.onState(drawSaved);
  await outbox.open(shared.project.id, (submission, refusal) => {
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
  drawFrame();
  listen();
  addEventListener("hashchange", route);
  addEventListener("keydown", key);
  addEventListener("dial-edit-classes", editClasses);
  route();
}

start();
