// Label: one item, one key. The answer goes to the outbox, the next item comes at once.

import * as api from "../api.js";
import { announce, fill, foreign, make, toast } from "../dom.js";
import { classOfKey, commandOf, commands } from "../keys.js";
import * as outbox from "../outbox.js";
import { large, small } from "../show.js";
import { addClass, annotator, classOf, shared, submit } from "../state.js";
import { T } from "../strings.js";

/** @typedef {import("../types.js").Card} Card */
/** @typedef {import("../types.js").ClassInfo} ClassInfo */

/** Items that are kept ready for when the server cannot be reached. */
const SPARE = 3;
/** Answers shown as a trail. */
const TRAIL = 8;

/** @returns {import("../types.js").View} */
export function labelView() {
  const item = make("section", { class: "item card", aria: { live: "off" } });
  const classes = make("div", { class: "classes", role: "group", aria: { label: T.classes } });
  const side = make("aside", { class: "beside" });
  const trail = make("ol", { class: "trail", aria: { label: T.recent } });
  const tools = make("div", { class: "deeds row" });
  const element = make("div", { class: "view label-view" }, make("div", { class: "asked" }, item, classes, tools, trail), side);

  /** @type {Card|null} */
  let card = null;
  /** The key of the answer to this card: made when it is shown. */
  let key = "";
  /** @type {Card[]} */
  let spare = [];
  /** @type {{card: Card, said: string, colour: string}[]} */
  const given = [];
  /** @type {Set<number>|null} Classes chosen so far, while somebody is unsure. */
  let unsure = null;
  let asking = false;
  let wait = 0;
  // Tabs of one browser are one person: they tell each other what they have on screen.
  const tabs = new BroadcastChannel(`dial-${shared.project.id}`);
  const own = api.newKey();
  /** @type {Map<string, string>} */
  const elsewhere = new Map();
  const tellTabs = (/** @type {string|null} */ id, hello = false) => tabs.postMessage({ tab: own, id, hello });
  tabs.addEventListener("message", ({ data }) => {
    if (data.id) elsewhere.set(data.tab, data.id); else elsewhere.delete(data.tab);
    if (data.hello) tellTabs(card?.id ?? null);
  });
  addEventListener("pagehide", () => tellTabs(null));
  tellTabs(null, true);

  /** @param {Card|null} next */
  const put = (next) => {
    card = next;
    shared.asked = next?.row ?? -1;
    tellTabs(next?.id ?? null);
    key = api.newKey();
    unsure = null;
    draw();
    if (card) announce(`${T.item(shared.project.item_word)}: ${card.show.kind === "text" ? card.show.text?.slice(0, 200) : card.id}`);
  };

  /** Items that are spoken for: kept ready, answered but not saved yet, or on screen in another tab. */
  const taken = () => [...spare.map((one) => one.id), ...outbox.items(), ...elsewhere.values()];

  /** Asks for the next item; what is on screen stays until it is there. */
  const advance = async () => {
    if (asking) return;
    asking = true;
    clearTimeout(wait);
    try {
      const asked = await api.post("next", { annotator: annotator(), count: 1, except: taken() });
      const next = asked.items[0] ?? spare.shift() ?? null;
      put(next);
      if (!next) wait = setTimeout(advance, 3000);
      stock();
    } catch (error) {
      const next = spare.shift();
      if (next) put(next);
      else {
        drawTrouble(/** @type {Error} */ (error));
        wait = setTimeout(advance, 2000);
      }
    } finally {
      asking = false;
    }
  };

  /** Keeps some items for a bad line. */
  const stock = async () => {
    // Of a small pool nothing is set aside: others want it too.
    if (spare.length >= SPARE || !card || shared.project.items - shared.project.labelled < 40) return;
    try {
      const except = [card.id, ...taken()];
      const asked = await api.post("next", { annotator: annotator(), count: SPARE - spare.length, except });
      const known = new Set([card?.id, ...spare.map((one) => one.id)]);
      spare.push(...asked.items.filter((/** @type {Card} */ one) => !known.has(one.id)));
      // Their pictures are fetched now: later there may be no line.
      for (const one of spare) if (one.show.url) new Image().src = one.show.url;
    } catch {
      // There is none, or no line: both are no news here.
    }
  };

  /**
   * Decides about the item on screen and goes on.
   * @param {import("../types.js").Deed} deed
   * @param {string} said
   * @param {string} colour
   */
  const decide = async (deed, said, colour) => {
    if (!card) return;
    const done = card;
    const used = key;
    // Until the next item is there nothing is asked, so that a second key cannot answer the first item again.
    card = null;
    given.unshift({ card: done, said, colour });
    given.length = Math.min(given.length, 200);
    const stored = submit([deed], { key: used, replace: done.labels.some((label) => label.annotator === annotator()) });
    announce(T.took(done.id, said));
    drawTrail();
    item.classList.add("leaving");
    // The best next question depends on this answer, which takes a few milliseconds; on a bad line a spare one comes at once.
    const patience = new Promise((resolve) => setTimeout(resolve, 400, null));
    const answer = await Promise.race([stored.catch(() => null), patience]);
    if (answer === null && spare.length) {
      const next = spare.shift();
      if (next) put(next);
    } else await advance();
  };

  /** @param {ClassInfo} known @param {boolean} [soft] */
  const label = (known, soft = false) => {
    if (!card) return;
    const classes = [{ class: known.id, weight: soft ? 0.5 : 1 }];
    decide({ kind: "label", item: card.id, classes }, soft ? `${known.name}?` : known.name, known.colour);
  };

  const sendUnsure = () => {
    if (!card || !unsure?.size) return;
    const weight = unsure.size === 1 ? 0.5 : 1 / unsure.size;
    const names = [...unsure].map((id) => classOf(id).name);
    decide({ kind: "label", item: card.id, classes: [...unsure].map((id) => ({ class: id, weight })) }, `${names.join(" / ")}?`, classOf([...unsure][0]).colour);
  };

  /** @param {"undo"|"redo"} kind */
  const turn = async (kind) => {
    try {
      const { items = [] } = await submit([{ kind, group: null }]);
      const words = T.turned(kind, items);
      announce(words);
      if (items.length !== 1) toast(words, "good");
      const taken = new Set(items);
      if (kind === "undo") given.splice(0, given.length, ...given.filter((one) => !taken.has(one.card.id)));
      drawTrail();
      // What was taken back is asked again; nothing else changes what is on screen.
      const back = kind === "undo" && items.length === 1 ? await api.get("item", { id: items[0] }).catch(() => null) : null;
      if (back) put(back);
      else if (!card || taken.has(card.id)) await advance();
    } catch (error) {
      toast(/** @type {Error} */ (error).message || (kind === "undo" ? T.nothingToUndo : T.nothingToRedo), "bad");
    }
  };

  /** @param {string} name */
  const newClass = async (name) => {
    if (!name.trim()) return;
    try {
      const known = await addClass(name);
      // Whoever names a class while an item is on screen means that item.
      const input = /** @type {HTMLInputElement|null} */ (document.getElementById("new-class"));
      if (input) input.value = "";
      input?.blur();
      label(known);
    } catch (error) {
      toast(/** @type {Error} */ (error).message, "bad");
    }
  };

  const draw = () => {
    item.classList.remove("leaving");
    if (!card) drawNothing();
    else {
      item.setAttribute("aria-label", T.item(shared.project.item_word));
      fill(item, large(card.show, card.id), make("footer", { class: "row small soft" }, foreign(card.id),
        card.audit && make("span", { class: "pill" }, T.drawn),
        card.labels.length > 0 && make("span", { class: "pill" }, T.alsoBy(card.labels.map((one) => one.annotator || T.nobody).join(", ")))));
    }
    drawClasses();
    drawSide();
    drawTools();
  };

  const drawNothing = () => {
    const over = shared.project.labelled >= shared.project.items;
    fill(item, make("div", { class: "empty" }, make("h2", {}, over ? T.finished : T.nothingNow),
      make("p", {}, over ? T.finishedHint : T.nothingNowHint),
      make("p", { class: "row" }, make("a", { class: "button main", href: "#export" }, T.toExport), make("a", { class: "button", href: "#review" }, T.toReview))));
  };

  /** @param {Error} error */
  const drawTrouble = (error) => {
    fill(item, make("div", { class: "empty" }, make("h2", {}, T.broken), make("p", {}, error.message),
      make("button", { class: "main", on: { click: advance } }, T.retry)));
  };

  /** What the buttons were drawn from: while that is the same they stay, so that a click on one is never lost. */
  let drawnFrom = "";

  const drawClasses = () => {
    const all = shared.project.classes;
    const effects = new Map((card?.changes ?? []).map((one) => [one.class, one.items]));
    const from = JSON.stringify([all.map((one) => [one.id, one.name, one.colour, one.key]), unsure ? [...unsure] : null]);
    if (from === drawnFrom) return drawEffects(effects);
    drawnFrom = from;
    const buttons = all.map((one) => {
      const effect = effects.get(one.id);
      return make("button", {
        class: "class", type: "button", style: { "--hue": one.colour }, data: { class: String(one.id) },
        title: effect === undefined ? one.name : `${one.name}: ${T.change(effect)}`,
        aria: unsure ? { pressed: unsure.has(one.id) } : {},
        on: { click: (/** @type {MouseEvent} */ event) => (unsure ? toggle(one.id) : label(one, event.shiftKey)) },
      }, make("kbd", {}, one.key || "·"), make("span", { class: "name" }, foreign(one.name)),
        make("span", { class: "effect" }, effect === undefined ? "" : T.changeShort(effect)));
    });
    const input = make("input", { placeholder: T.addClass, maxLength: 200, id: "new-class", title: T.addClassHint, aria: { label: T.addClassHint },
      on: { keydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Escape") { input.value = ""; input.blur(); } } } });
    const add = make("form", { class: "add", on: { submit: (/** @type {Event} */ event) => { event.preventDefault(); newClass(input.value); } } },
      input, make("button", {}, T.add));
    const typed = /** @type {HTMLInputElement|null} */ (document.activeElement?.id === "new-class" ? document.activeElement : null);
    if (typed) input.value = typed.value;
    const first = all.length === 0;
    fill(classes, first && make("div", { class: "first" }, make("h2", {}, T.firstClass), make("p", { class: "soft" }, T.firstClassHint)),
      all.length === 1 && make("p", { class: "soft hint" }, T.secondClass), buttons, add,
      !first && make("button", { class: "quiet", type: "button", on: { click: () => dispatchEvent(new Event("dial-edit-classes")) } }, T.editClasses));
    classes.classList.toggle("none", first);
    if (typed || (first && element.isConnected)) input.focus();
  };

  /** @param {Map<number, number>} effects */
  const drawEffects = (effects) => {
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (classes.querySelectorAll(".class"))) {
      const effect = effects.get(Number(button.dataset.class));
      const place = button.querySelector(".effect");
      if (place) place.textContent = effect === undefined ? "" : T.changeShort(effect);
      const name = button.querySelector(".name")?.textContent ?? "";
      button.title = effect === undefined ? name : `${name}: ${T.change(effect)}`;
    }
  };

  /** @param {number} id */
  const toggle = (id) => {
    if (!unsure) return;
    if (unsure.has(id)) unsure.delete(id); else unsure.add(id);
    drawClasses();
    drawTools();
  };

  const drawTools = () => {
    const keys = commands();
    const tool = (/** @type {string} */ words, /** @type {string} */ shortcut, /** @type {() => void} */ work, pressed = false) =>
      make("button", { type: "button", aria: pressed ? { pressed: "true" } : {}, on: { click: work } }, words, make("kbd", {}, shortcut));
    fill(tools, unsure && make("p", { class: "hint", role: "status" }, T.unsureOn),
      unsure?.size ? tool(T.unsureSend, keys.unsure, sendUnsure) : null,
      tool(T.undo, keys.undo, () => turn("undo")), tool(T.redo, keys.redo, () => turn("redo")),
      tool(T.skip, keys.skip, skip), tool(T.exclude, keys.exclude, exclude),
      shared.project.classes.length > 0 && tool(T.unsure, keys.unsure, () => { unsure = unsure ? null : new Set(); drawClasses(); drawTools(); }, unsure !== null));
  };

  const skip = () => card && decide({ kind: "skip", item: card.id }, T.skip, "var(--soft)");
  const exclude = () => card && decide({ kind: "exclude", item: card.id }, T.exclude, "var(--soft)");

  const drawTrail = () => {
    fill(trail, given.slice(0, TRAIL).map((one) => make("li", { title: `${one.card.id}: ${one.said}`, style: { "--hue": one.colour } },
      small(one.card.show, one.card.id, 64), make("span", {}, foreign(one.said)))));
  };

  const drawSide = () => {
    if (!card) return fill(side);
    const { belief } = card;
    fill(side,
      card.why && shared.project.classes.length > 0 && make("section", { class: "card pad why" }, make("h3", {}, T.why), make("p", {}, foreign(card.why))),
      shared.project.classes.length > 0 && make("section", { class: "card pad" }, make("h3", {}, T.belief), belief ? bars(belief) : make("p", { class: "soft" }, T.beliefNone)),
      card.nearest.length > 0 && make("section", { class: "card pad" }, make("h3", {}, T.nearest), nearest(card)),
      card.beside.length > 0 && make("section", { class: "card pad" }, make("h3", {}, T.details),
        make("dl", { class: "details" }, card.beside.map(([name, value]) => [make("dt", {}, foreign(name)), make("dd", {}, foreign(value))]).flat())));
  };

  return {
    element,
    show: () => { if (!card) advance(); else draw(); drawTrail(); },
    key: (event) => {
      const command = commandOf(event);
      if (command && event.repeat) return true;
      if (command === "undo" || command === "redo") turn(command);
      else if (command === "skip") skip();
      else if (command === "exclude") exclude();
      else if (command === "add") document.getElementById("new-class")?.focus();
      else if (command === "zoom") item.querySelector(".picture")?.dispatchEvent(new Event("dial-zoom"));
      else if (command === "unsure") {
        if (unsure?.size) sendUnsure();
        else { unsure = unsure ? null : new Set(); drawClasses(); drawTools(); }
      } else {
        const found = classOfKey(event, shared.project.classes);
        if (!found || event.repeat) return false;
        if (unsure) toggle(found.known.id); else label(found.known, found.soft);
      }
      return true;
    },
    changed: async (what) => {
      if (what === "project") { drawClasses(); drawTools(); }
      if ((what !== "model" && what !== "log") || !card || !element.isConnected) return;
      // The model has thought on: what it believes about the item on screen, and what an answer would change.
      const id = card.id;
      const fresh = await api.get("item", { id }).catch(() => null);
      if (!fresh || card?.id !== id) return;
      const mine = (/** @type {import("../types.js").LabelOf[]} */ labels) => labels.some((label) => label.annotator === annotator());
      // Somebody in another view or tab of ours has answered it meanwhile.
      if (mine(fresh.labels) && !mine(card.labels)) { await advance(); return; }
      card = { ...card, labels: fresh.labels, belief: fresh.belief, why: card.audit ? card.why : fresh.why, nearest: fresh.nearest, changes: fresh.changes };
      drawClasses();
      drawSide();
    },
  };
}

/** Bars of belief, each with how far it may be off. @param {import("../types.js").Belief} belief */
export function bars(belief) {
  if (!belief.reached) return make("p", { class: "soft" }, T.unreached);
  const shown = [...belief.probabilities].sort((a, b) => b.probability - a.probability).slice(0, 6);
  return make("div", {}, make("ul", { class: "bars" }, shown.map(({ class: id, probability }) => {
    const known = classOf(id);
    // The standard deviation of the share of a class in a Dirichlet distribution with this evidence.
    const spread = Math.sqrt((probability * (1 - probability)) / (belief.evidence + 1));
    const words = T.bar(known.name, probability, spread);
    const [low, high] = [Math.max(0, probability - spread), Math.min(1, probability + spread)];
    return make("li", { title: words }, make("span", { class: "name" }, foreign(known.name)),
      make("span", { class: "bar", role: "img", aria: { label: words } },
        make("i", { style: { width: `${100 * probability}%`, "--hue": known.colour } }),
        make("b", { style: { left: `${100 * low}%`, width: `${100 * (high - low)}%` } })),
      make("span", { class: "percent" }, `${Math.round(100 * probability)}`));
  })), make("p", { class: "soft small" }, T.evidence(belief.evidence)));
}

/** @param {Card} card */
function nearest(card) {
  const places = card.nearest.map((near) => {
    const known = classOf(near.class);
    const place = make("li", { title: `${near.id}: ${known.name}`, style: { "--hue": known.colour } }, make("span", { class: "row" }, make("span", { class: "dot" }), foreign(known.name)));
    if (card.show.kind === "picture") {
      place.prepend(small({ kind: "picture", url: `/api/v1/media?id=${encodeURIComponent(near.id)}` }, near.id, 96));
    } else place.append(make("span", { class: "soft small" }, foreign(near.id)));
    return place;
  });
  return make("ul", { class: `near ${card.show.kind}` }, places);
}
