// Label: one item, one key. The answer goes to the outbox, the next item comes at once.

import * as api from "../api.js";
import { bars, nearest } from "../bars.js";
import { Picker } from "../classes.js";
import { askAlike } from "../dialogs.js";
import { announce, fill, foreign, make, toast } from "../dom.js";
import { hold, inTurn, onScreens, release } from "../item_locks.js";
import { commandOf, commands } from "../keys.js";
import { modelHint } from "../model_hint.js";
import * as outbox from "../outbox.js";
import { complain } from "../refusals.js";
import { drawable, large, small } from "../show.js";
import { addClass, annotator, classOf, refresh, shared, submit } from "../state.js";
import { T } from "../strings.js";

/** @typedef {import("../types.js").ItemView} ItemView */
/** @typedef {import("../types.js").ClassInfo} ClassInfo */
/** @typedef {Extract<import("../types.js").Decision, {kind: "label"|"skip"|"exclude"}>} Answer */
/** @typedef {{card: ItemView, decision: Answer, stored: Promise<import("../types.js").Stored|null>}} Left */
/** An undo or redo: what was pressed since, and the item that was on screen when it began. @typedef {{work: (() => void)|null, before: ItemView|null, shown: number, last: string, over: boolean, timer: number}} Turn */

/** Items that are kept ready for when the server cannot be reached. */
const SPARE = 3;
/** Labels within which it is said what a model would bring. */
const BEGINNING = 20;
/** Answers shown as a trail. */
const TRAIL = 8;
/** Milliseconds that an answered item stays at least, so that a key that is pressed twice by mistake cannot reach the next one. */
const TWICE = 100;
/** Milliseconds in which the server answers; then the work goes on without it. */
const PATIENCE = 400;
/** Milliseconds after which an item is shown although its picture is not there, and after which an undo holds nothing up. */
const LONG = 5000;

/** @param {number} time @returns {Promise<null>} */
const after = (time) => new Promise((resolve) => setTimeout(resolve, time, null));

/** @returns {import("../types.js").View} */
export function labelView() {
  const item = make("section", { class: "item card", aria: { live: "off" } });
  const picker = new Picker((known, soft) => (unsure ? toggle(known.id) : label(known, soft)), () => drawMore());
  const side = make("aside", { class: "beside" });
  const trail = make("ol", { class: "trail", aria: { label: T.recent } });
  const tools = make("div", { class: "deeds row" });
  const element = make("div", { class: "view label-view" }, make("div", { class: "asked" }, item, picker.element, tools, trail), side);

  // A key is about the item on screen. Until the next one is drawn, picture and all, that is still the one that was answered: another
  // class corrects the answer, the same class again changes nothing, undo takes it back. After an undo it is the item that comes back.
  /** The item that is asked. @type {ItemView|null} */
  let card = null;
  /** The item that was answered, while it is still on screen, and its answer. @type {Left|null} */
  let left = null;
  /** The undo or redo that is on its way, from the key on. @type {Turn|null} */
  let turning = null;
  /** The change of items that is under way. @type {Promise<unknown>} */
  let changing = Promise.resolve();
  /** Whether "unsure" was pressed for the item that is on its way. */
  let early = false;
  /** How many items were put on screen. */
  let puts = 0;
  /** The key of the answer to this card: made when it is shown. */
  let key = "";
  /** @type {ItemView[]} */
  let spare = [];
  /** @type {{card: ItemView, said: string, colour: string}[]} */
  const given = [];
  /** @type {Set<number>|null} Classes chosen so far, while somebody is unsure. */
  let unsure = null;
  let asking = false;
  let wait = 0;
  /** @param {ItemView|null} next */
  const put = (next) => {
    if (card && card.id !== next?.id) release(card.id);
    card = next;
    left = null;
    puts++;
    shared.asked = next?.row ?? -1;
    if (next) hold(next.id);
    key = api.newKey();
    unsure = early && next ? new Set() : null;
    early = false;
    draw();
    element.closest("main")?.scrollTo({ top: 0, behavior: "instant" });
    if (card) announce(`${T.item(shared.project.item_word)}: ${card.show.kind === "text" ? card.show.text.slice(0, 200) : card.id}`);
  };

  /** Asks for items that no tab has, answered or on screen, and says that this one has them. @param {number} count @returns {Promise<ItemView[]>} */
  const ask = (count) => new Promise((resolve, reject) => {
    inTurn(async () => {
      const except = [...outbox.items(), ...await onScreens()];
      const { items } = await api.post("next", { annotator: annotator(), count, except }, AbortSignal.timeout(10000));
      // They can be shown now; the next tab asks once it can see that this one has them.
      resolve(items);
      await Promise.all(items.map((one) => hold(one.id)));
    }).catch(reject);
  });

  /** The same as soon as it can be drawn whole. @param {ItemView|null} next */
  const bring = async (next) => {
    if (next) await Promise.race([drawable(next.show).catch(() => {}), after(LONG)]);
    put(next);
  };

  /** Asks for the next item; what is on screen stays until it is there. What an undo puts there meanwhile stays too. */
  const advance = async () => {
    if (asking) return;
    asking = true;
    clearTimeout(wait);
    const shown = puts;
    try {
      const next = (await ask(1))[0] ?? spare.shift() ?? null;
      if (next) await Promise.race([drawable(next.show).catch(() => {}), after(LONG)]);
      if (puts === shown) {
        put(next);
        if (!next) wait = setTimeout(advance, 3000);
      } else if (next && next.id !== card?.id) spare.push(next);
      stock();
    } catch (error) {
      if (puts !== shown) return;
      const next = spare.shift();
      if (next) {
        await Promise.race([drawable(next.show).catch(() => {}), after(LONG)]);
        if (puts === shown) put(next);
        else spare.unshift(next);
      } else if (error instanceof api.Refusal && error.code === "C14") {
        put(null);
        drawTaken(Math.max(1, Math.ceil(error.retryAfter / 60)));
        wait = setTimeout(advance, 5000);
      } else {
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
      spare.push(...await ask(SPARE - spare.length));
      // Their pictures are fetched now: later there may be no line.
      for (const one of spare) drawable(one.show).catch(() => {});
    } catch {
      // There is none, or no line: both are no news here.
    }
  };

  /**
   * Decides about the item on screen and goes on.
   * @param {Answer} decision Its item is filled in here.
   * @param {string} said
   * @param {string} colour
   */
  const decide = (decision, said, colour) => {
    if (turning) turning.work = () => decide(decision, said, colour);
    else if (card) changing = settle(card, { ...decision, item: card.id }, said, colour);
    else if (left) correct(left, { ...decision, item: left.card.id }, said, colour);
  };

  /** @param {ItemView} done @param {Answer} decision @param {string} said @param {string} colour */
  const settle = async (done, decision, said, colour) => {
    card = null;
    unsure = null;
    given.unshift({ card: done, said, colour });
    given.length = Math.min(given.length, 200);
    const stored = submit([decision], { key, replace: done.labels.some((label) => label.annotator === annotator()) }).catch(() => null);
    left = { card: done, decision, stored };
    // Until it is saved no other tab may be given the item.
    stored.then(() => release(done.id));
    announce(T.took(done.id, said));
    drawTrail();
    item.classList.add("leaving");
    // The best next question depends on this answer, which takes a few milliseconds; on a bad line a spare one comes at once.
    const [answer] = await Promise.all([Promise.race([stored, after(PATIENCE)]), after(TWICE)]);
    const next = answer === null ? spare.shift() : null;
    if (next) await bring(next);
    else await advance();
  };

  /**
   * The last class counts that is said while an item is on screen.
   * @param {Left} gone @param {Answer} decision @param {string} said @param {string} colour
   */
  const correct = (gone, decision, said, colour) => {
    if (JSON.stringify(decision) === JSON.stringify(gone.decision)) return;
    if (decision.kind !== "label" || gone.decision.kind !== "label") { toast(T.tooSoon(said)); announce(T.tooSoon(said)); return; }
    gone.decision = decision;
    gone.stored = instead(gone.stored, decision);
    changing = Promise.all([changing, gone.stored]);
    const one = given.find(({ card: before }) => before.id === gone.card.id);
    if (one) Object.assign(one, { said, colour });
    announce(T.took(gone.card.id, said));
    drawTrail();
  };

  /**
   * An answer in the place of one a moment ago. That one is taken back, so that one undo takes back the new one; on a bad line it is
   * replaced, as nobody knows when it can be taken back.
   * @param {Left["stored"]} before @param {Answer} decision @returns {Left["stored"]}
   */
  const instead = async (before, decision) => {
    const receipt = await Promise.race([before, after(PATIENCE)]);
    if (receipt?.group) submit([{ kind: "undo", group: receipt.group }]).catch(() => {});
    return submit([decision], { replace: true }).catch(() => null);
  };

  /** @param {ClassInfo} known @param {boolean} [soft] */
  const label = (known, soft = false) => {
    const classes = [{ class: known.id, weight: soft ? 0.5 : 1 }];
    decide({ kind: "label", item: "", classes }, soft ? `${known.name}?` : known.name, known.colour);
  };

  const sendUnsure = () => {
    if (!card || !unsure?.size) return;
    const weight = unsure.size === 1 ? 0.5 : 1 / unsure.size;
    const names = [...unsure].map((id) => classOf(id).name);
    decide({ kind: "label", item: card.id, classes: [...unsure].map((id) => ({ class: id, weight })) }, `${names.join(" / ")}?`, classOf([...unsure][0]).colour);
  };

  /** @param {"undo"|"redo"} kind */
  const turn = (kind) => {
    // A class that waits for the undo before is what this one takes back: it was never sent.
    if (kind === "undo" && turning?.work) {
      turning.work = null;
      announce(T.turned("undo", [turning.last], 1));
      return;
    }
    /** @type {Turn} */
    const mine = turning = { work: null, before: null, shown: -1, last: "", over: false, timer: 0 };
    mine.timer = setTimeout(() => end(mine), outbox.state().trouble === "none" ? LONG : 0);
    // What was answered a moment ago can be taken back once its change is over.
    changing = changing.then(() => turned(kind, mine));
  };

  /** The item that was on screen is asked again, unless another one is. @param {Turn} mine */
  const end = (mine) => {
    if (mine.over) return;
    mine.over = true;
    clearTimeout(mine.timer);
    if (puts === mine.shown) { card = mine.before; item.classList.remove("leaving"); }
    if (turning !== mine) return;
    turning = null;
    // Who takes an answer back and gives another one means the item of that answer.
    if (card && card.id === mine.last) mine.work?.();
    else if (mine.work) { toast(T.tooSoonAfter); announce(T.tooSoonAfter); }
  };

  /** @param {"undo"|"redo"} kind @param {Turn} mine */
  const turned = async (kind, mine) => {
    const before = card;
    if (!mine.over) {
      Object.assign(mine, { before, shown: puts, last: kind === "undo" ? given[0]?.card.id ?? "" : "" });
      card = null;
      item.classList.add("leaving");
    }
    try {
      const { items = [], turned = 0 } = await submit([{ kind, group: null }]);
      const words = T.turned(kind, items, turned);
      announce(words);
      if (items.length !== 1) { toast(words, "good"); await refresh(); }
      const taken = new Set(items);
      if (kind === "undo") given.splice(0, given.length, ...given.filter((one) => !taken.has(one.card.id)));
      drawTrail();
      // What was taken back is asked again; nothing else changes what is on screen.
      const back = kind === "undo" && items.length === 1 ? await api.get("item", { id: items[0] }).catch(() => null) : null;
      const asked = card ?? before;
      if (back) {
        if (asked && asked.id !== back.id) release(asked.id);
        await bring(back);
      } else if (!asked || taken.has(asked.id)) {
        if (asked) release(asked.id);
        await advance();
      }
    } catch (error) {
      complain(error);
    }
    end(mine);
  };

  /** @param {string} name */
  const newClass = async (name) => {
    if (!name.trim()) return;
    const meant = (card ?? left?.card)?.id;
    try {
      const known = await addClass(name, askAlike);
      if (!known) return;
      // Whoever names a class while an item is on screen means that item.
      const input = /** @type {HTMLInputElement|null} */ (document.getElementById("new-class"));
      if (input) input.value = "";
      input?.blur();
      if ((card ?? left?.card)?.id === meant) label(known);
      else toast(T.tooSoon(known.name));
    } catch (error) {
      complain(error);
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

  /** @param {number} minutes Until an item is free. */
  const drawTaken = (minutes) => fill(item, make("div", { class: "empty" }, make("h2", {}, T.allTaken), make("p", {}, T.allTakenHint(minutes)),
    make("p", { class: "row" }, make("a", { class: "button", href: "#review" }, T.toReview))));

  /** @param {Error} error */
  const drawTrouble = (error) => {
    left = null;
    const offline = error instanceof api.Refusal && error.passing;
    item.classList.remove("leaving");
    fill(item, make("div", { class: "empty" }, make("h2", {}, offline ? T.noLine : T.broken), make("p", {}, offline ? T.noLineHint : error.message),
      make("button", { class: "main", on: { click: advance } }, T.retry)));
    drawClasses();
    drawSide();
    drawTools();
  };

  const drawClasses = () => {
    const first = shared.project.classes.length === 0;
    // Where nothing is asked there is nothing to answer; between two items everything stays.
    picker.element.hidden = !card && item.querySelector(".empty") !== null;
    picker.draw({ pressed: unsure, effects: new Map((card?.changes ?? []).map((one) => [one.class, one.items])) });
    picker.buttons.classList.toggle("none", first);
    if (first && element.isConnected) document.getElementById("new-class")?.focus();
  };

  /** What stands with the buttons: what to do first, the box for a new class, and the way to all of them. */
  const drawMore = () => {
    const all = shared.project.classes;
    const before = /** @type {HTMLInputElement|null} */ (document.getElementById("new-class"));
    const input = make("input", { placeholder: T.addClass, maxLength: 200, id: "new-class", title: T.addClassHint, value: before?.value ?? "", aria: { label: T.addClassHint },
      on: { keydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Escape" && !event.isComposing) { input.value = ""; input.blur(); } } } });
    const add = make("form", { class: "add", on: { submit: (/** @type {Event} */ event) => { event.preventDefault(); newClass(input.value); } } },
      input, make("button", {}, T.add));
    const first = all.length === 0;
    return [first && make("div", { class: "first" }, make("h2", {}, T.firstClass), make("p", { class: "soft" }, T.firstClassHint)),
      all.length === 1 && make("p", { class: "soft hint" }, T.secondClass), add,
      !first && make("button", { class: "quiet", type: "button", on: { click: () => dispatchEvent(new Event("dial-edit-classes")) } }, T.editClasses)];
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
    const idle = picker.element.hidden;
    const tool = (/** @type {string} */ words, /** @type {string} */ shortcut, /** @type {() => void} */ work, pressed = false) =>
      make("button", { type: "button", aria: pressed ? { pressed: "true" } : {}, on: { click: work } }, words, make("kbd", {}, shortcut));
    fill(tools, unsure && make("p", { class: "hint", role: "status" }, T.unsureOn),
      unsure?.size ? tool(T.unsureSend, keys.unsure, sendUnsure) : null,
      tool(T.undo, keys.undo, () => turn("undo")), tool(T.redo, keys.redo, () => turn("redo")),
      !idle && tool(T.skip, keys.skip, skip), !idle && tool(T.exclude, keys.exclude, exclude),
      !idle && shared.project.classes.length > 0 && tool(T.unsure, keys.unsure, () => { unsure = unsure ? null : new Set(); drawClasses(); drawTools(); }, unsure !== null));
  };

  const skip = () => decide({ kind: "skip", item: "" }, T.skip, "var(--soft)");
  const exclude = () => decide({ kind: "exclude", item: "" }, T.exclude, "var(--soft)");

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
        make("dl", { class: "details" }, card.beside.map(([name, value]) => [make("dt", {}, foreign(name)), make("dd", {}, foreign(value))]).flat())),
      shared.project.labelled < BEGINNING && modelHint());
  };

  /** The model has thought on: what it believes about the item on screen, and what an answer would change. */
  async function freshen() {
    if (!card || !element.isConnected) return;
    const [id, shown] = [card.id, puts];
    const fresh = await api.get("item", { id }).catch(() => null);
    // An undo may have brought the very item back, and what was read before that is no longer true of it.
    if (!fresh || card?.id !== id || puts !== shown) return;
    const mine = (/** @type {import("../types.js").LabelOf[]} */ labels) => labels.some((label) => label.annotator === annotator());
    // Somebody in another view or tab of ours has answered it meanwhile.
    if (mine(fresh.labels) && !mine(card.labels)) { await advance(); return; }
    card = { ...card, labels: fresh.labels, belief: fresh.belief, why: card.audit ? card.why : fresh.why, nearest: fresh.nearest, changes: fresh.changes };
    drawClasses();
    drawSide();
  }

  return {
    element,
    show: () => { if (!card) advance(); else { draw(); freshen(); } drawTrail(); },
    key: (event) => {
      const command = commandOf(event);
      if (command && event.repeat) return true;
      if (command === "undo" || command === "redo") turn(command);
      else if (command === "skip") skip();
      else if (command === "exclude") exclude();
      else if (command === "add") document.getElementById("new-class")?.focus();
      else if (command === "zoom") item.querySelector(".picture")?.dispatchEvent(new Event("dial-zoom"));
      else if (command === "unsure") {
        if (!card) early = !early && (left ?? turning) !== null;
        else if (unsure?.size) sendUnsure();
        else { unsure = unsure ? null : new Set(); drawClasses(); drawTools(); }
      } else return picker.key(event);
      return true;
    },
    changed: (what) => {
      if (what === "project") { drawClasses(); drawTools(); }
      if (what === "model" || what === "log") freshen();
    },
  };
}
