// Review: labels the graph disagrees with, people who disagree, conflicting answers, and everything that happened.

import * as api from "../api.js";
import { Picker } from "../classes.js";
import { calmly, fill, foreign, make, toast } from "../dom.js";
import { takeUp } from "../outbox.js";
import { turnKey } from "../panel.js";
import { complain } from "../refusals.js";
import { sideways } from "../scrolling.js";
import { large, small } from "../show.js";
import { annotator, classOf, refresh, saidOf, shared, submit } from "../state.js";
import { T, when } from "../strings.js";

/** @typedef {keyof typeof T.tabs} Tab */
/** @typedef {{id: string, words: string, confirm?: () => Promise<any>}} Doubt */

/** Who said what about an item, in words. @param {import("../types.js").LabelOf[]} labels */
function whoSaid(labels) {
  const [first, ...others] = labels;
  if (first && !others.length && !first.annotator) return T.called(saidOf(first.classes));
  return labels.map((one) => T.says(one.annotator, saidOf(one.classes))).join(" · ");
}

/** @returns {import("../types.js").View} */
export function reviewView() {
  const tabs = make("div", { class: "segments", role: "tablist" });
  sideways(tabs);
  const body = make("div", { class: "review-body", role: "tabpanel" });
  const element = make("div", { class: "view review-view" }, make("header", {}, make("h2", {}, T.reviewTitle)), tabs, body);
  const picker = new Picker((known) => { correct(known.id); });
  // They stay while the list below is drawn anew, so that nothing typed is lost.
  const searching = make("input", { type: "search", placeholder: T.historySearch, aria: { label: T.historySearch }, on: { input: () => searchSoon() } });
  const file = make("input", { type: "file", accept: "application/json", hidden: true, on: { change: async () => {
    const chosen = file.files?.[0];
    await attempt(async () => { if (chosen) toast(T.fileTaken(takeUp(await chosen.text())), "good"); });
    file.value = "";
  } } });
  const searchSoon = calmly(() => { if (tab() === "history") read(); }, 250);
  const list = make("div", { class: "review-body" });
  /** @returns {Tab} */
  const tab = () => shared.review;
  /** @type {Doubt[]} */
  let doubts = [];
  let place = 0;
  /** Labels that somebody looked at in this browser and found right: item and class. */
  const kept = `dial-confirmed-${shared.project.id}`;
  /** @type {Set<string>} */
  const confirmed = new Set(JSON.parse(localStorage.getItem(kept) ?? "[]"));
  /** @type {Doubt|null} The one on screen. */
  let drawn = null;
  let turns = 0;
  let shown = false;
  let wanted = 50;

  const drawTabs = () => fill(tabs, /** @type {Tab[]} */ (Object.keys(T.tabs)).map((one) => make("button", { type: "button", role: "tab", aria: { selected: one === tab() },
    on: { click: () => { shared.review = one; place = 0; wanted = 50; read(); } } }, T.tabs[one], one === "conflicts" && shared.project.conflicts > 0 && ` (${shared.project.conflicts})`)));

  const read = async () => {
    const turn = ++turns;
    drawTabs();
    body.setAttribute("aria-label", T.tabs[tab()]);
    try {
      if (tab() === "suspects") {
        const page = await api.get("suspects", { limit: 200 });
        if (turn !== turns) return;
        doubts = page.rows.filter((row) => !confirmed.has(`${row.label} ${row.id}`)).map((row) => ({
          id: row.id, words: T.suspect(whoSaid(row.labels), classOf(row.label).name, classOf(row.expected).name, row.probability),
          confirm: async () => { confirmed.add(`${row.label} ${row.id}`); localStorage.setItem(kept, JSON.stringify([...confirmed])); },
        }));
        await drawDoubt(T.suspectsHow, T.suspectsNone);
      } else if (tab() === "disagreements") {
        const page = await api.get("disagreements", { limit: 200 });
        if (turn !== turns) return;
        doubts = page.rows.map((row) => ({ id: row.id, words: whoSaid(row.labels) }));
        await drawDoubt(T.disagreementsHow, T.disagreementsNone);
      } else if (tab() === "conflicts") await drawConflicts();
      else if (tab() === "passed") await drawPassed();
      else await drawHistory();
    } catch (error) {
      fill(body, make("div", { class: "empty" }, make("h2", {}, T.broken), make("p", {}, /** @type {Error} */ (error).message), make("button", { on: { click: read } }, T.retry)));
    }
  };

  /** @param {string} how @param {string} none */
  const drawDoubt = async (how, none) => {
    place = Math.min(place, Math.max(0, doubts.length - 1));
    const doubt = doubts[place];
    if (!doubt) return fill(body, make("div", { class: "empty" }, make("h2", {}, none)));
    const turn = turns;
    const card = await api.get("item", { id: doubt.id });
    if (turn !== turns) return;
    drawn = doubt;
    const list = make("ol", { class: "doubts" }, doubts.map((one, i) => make("li", {}, make("button", { type: "button", class: "quiet", aria: i === place ? { current: "true" } : {},
      on: { click: () => { place = i; drawn = null; turns++; drawDoubt(how, none); } } }, make("span", {}, foreign(one.id)), make("span", { class: "soft small" }, foreign(one.words))))));
    picker.draw();
    fill(body, make("p", { class: "soft" }, how), make("div", { class: "doubt" }, list,
      make("section", { class: "card pad" }, large(card.show, card.id), make("p", { class: "said" }, foreign(doubt.words)),
        doubt.confirm && make("button", { class: "main", type: "button", on: { click: confirm } }, T.confirm, make("kbd", {}, "Enter")),
        picker.element)));
  };

  const confirm = async () => {
    await drawn?.confirm?.();
    drawn = null;
    read();
  };

  /** @param {number} id */
  const correct = async (id) => {
    const doubt = drawn;
    if (!doubt) { toast(T.tooSoon(classOf(id).name)); return; }
    drawn = null;
    await attempt(async () => {
      // A label that somebody else gave is replaced in their name only by themselves; ours then stands beside it.
      // Where people differ it decides between them.
      const adjudicates = tab() === "disagreements";
      await submit([{ kind: "label", item: doubt.id, classes: [{ class: id, weight: 1 }], adjudicates }], { replace: true });
      toast(T.took(doubt.id, classOf(id).name), "good");
    });
    read();
  };

  /** @param {() => Promise<void>} work */
  const attempt = async (work) => {
    try { await work(); } catch (error) { complain(error); }
  };

  const drawConflicts = async () => {
    const turn = turns;
    const { rows } = await api.get("conflicts", { limit: 200 });
    const cards = await Promise.all(rows.map((row) => api.get("item", { id: row.item }).catch(() => null)));
    if (turn !== turns) return;
    const choose = make("button", { type: "button", on: { click: () => file.click() } }, T.takeFile);
    if (!rows.length) return fill(body, make("div", { class: "empty" }, make("h2", {}, T.conflictsNone), choose, file));
    fill(body, make("p", { class: "soft" }, T.conflictsHow), make("ul", { class: "conflicts" }, rows.map((row, i) => conflict(row, cards[i]))), make("p", {}, choose, file));
  };

  /** An answer that was stored as a conflict, with the item it is for. @param {import("../types.js").HistoryRow} row @param {import("../types.js").ItemView|null} card */
  const conflict = (row, card) => {
    const after = () => refresh().then(read);
    const answer = (/** @type {import("../types.js").Share[]} */ classes) => attempt(async () => {
      await submit([{ kind: "label", item: row.item ?? "", classes }], { replace: true });
    }).then(after);
    const dismiss = () => attempt(async () => { await submit([{ kind: "resolve", conflict: row.seq }]); }).then(after);
    const live = (row.classes ?? []).every((share) => shared.project.classes.some((one) => one.id === share.class));
    const mine = row.annotator === annotator() && (row.classes ?? []).length > 0;
    const other = make("select", { aria: { label: `${T.conflictsOther}: ${row.item}` }, on: { change: () => answer([{ class: Number(other.value), weight: 1 }]) } },
      make("option", { value: "" }, T.conflictsOther), shared.project.classes.map((one) => make("option", { value: String(one.id) }, one.name)));
    const stands = card?.labels.find((label) => label.annotator === row.annotator)?.classes;
    return make("li", { class: "card pad" }, card && small(card.show, card.id, 96),
      make("div", {}, make("p", {}, foreign(row.item ?? ""), " → ", make("strong", {}, foreign(row.classes?.length && live ? saidOf(row.classes) : row.text))),
        make("p", { class: "soft small" }, foreign(`${stands ? `${T.stands(saidOf(stands))} · ` : ""}${row.annotator || T.nobody}, ${when(row.time)}`))),
      make("div", { class: "row" }, mine && live && make("button", { type: "button", class: "main", on: { click: () => answer(row.classes ?? []) } }, T.conflictsAgain),
        mine && !live && other, make("button", { type: "button", on: { click: dismiss } }, T.dismiss)));
  };

  const drawPassed = async () => {
    const turn = turns;
    const page = await api.get("passed", { limit: wanted });
    const cards = await Promise.all(page.rows.map((row) => api.get("item", { id: row.id }).catch(() => null)));
    if (turn !== turns) return;
    if (!page.rows.length) return fill(body, make("div", { class: "empty" }, make("h2", {}, T.passedNone)));
    const reopen = (/** @type {string[]} */ ids) => attempt(async () => {
      await submit(ids.map((item) => ({ kind: "reopen", item })));
      toast(T.reopened(ids.length), "good");
    }).then(read);
    /** All that are listed or would be: what is on screen is only the beginning. */
    const reopenAll = () => attempt(async () => {
      /** @type {string[]} */
      const ids = [];
      for (let all = page.total; ids.length < all;) {
        const more = await api.get("passed", { limit: 1000, offset: ids.length });
        if (!more.rows.length) break;
        ids.push(...more.rows.map((row) => row.id));
        all = more.total;
      }
      await submit(ids.map((item) => ({ kind: "reopen", item })));
      toast(T.reopened(ids.length), "good");
    }).then(read);
    /** @param {import("../types.js").Passed} row @param {import("../types.js").ItemView|null} card */
    const one = (row, card) => {
      const select = make("select", { aria: { label: `${T.passedAnswer}: ${row.id}` }, on: { change: () => attempt(async () => {
        const known = classOf(Number(select.value));
        await submit([{ kind: "reopen", item: row.id }, { kind: "label", item: row.id, classes: [{ class: known.id, weight: 1 }] }], { replace: true });
        toast(T.took(row.id, known.name), "good");
      }).then(read) } }, make("option", { value: "" }, T.passedAnswer), shared.project.classes.map((other) => make("option", { value: String(other.id) }, other.name)));
      return make("li", { class: "card pad" }, card && small(card.show, card.id, 96),
        make("div", {}, make("p", {}, foreign(row.id)), make("p", { class: "soft small" }, foreign(T.passedBy(row.excluded ? T.passedExcluded : T.passedSkipped, row.annotator, row.time)))),
        make("div", { class: "row" }, make("button", { type: "button", class: "main", on: { click: () => reopen([row.id]) } }, T.passedReopen), select));
    };
    fill(body, make("p", { class: "soft" }, T.passedHow), make("ul", { class: "conflicts" }, page.rows.map((row, i) => one(row, cards[i]))),
      make("p", { class: "row" }, page.rows.length > 1 && make("button", { type: "button", on: { click: reopenAll } }, T.passedAll),
        page.total > page.rows.length && make("button", { type: "button", on: { click: () => { wanted += 50; read(); } } }, T.more)));
  };

  /** Items of one step: how many, and which when it is opened. @param {import("../types.js").HistoryRow} row */
  const many = (row) => {
    const words = T.historyTogether(row.together ?? 1);
    return row.items?.length ? make("details", {}, make("summary", {}, words), make("p", { class: "small" }, foreign(T.historyMore(row.items, row.together ?? 1)))) : make("span", {}, words);
  };

  const drawHistory = async () => {
    const turn = turns;
    const page = await api.get("history", { limit: wanted, search: searching.value, by_step: true });
    if (turn !== turns) return;
    const rows = page.rows.map((row) => {
      const turn = (/** @type {"undo"|"redo"} */ kind) => attempt(async () => { 
        const { items = [], turned = 0 } = await submit([{ kind, group: row.group }], { replace: true });
        toast(T.turned(kind, items, turned), "good");
      }).then(read);
      const select = make("select", { aria: { label: `${T.edit}: ${row.item}` }, on: { change: () => attempt(async () => {
        await submit([{ kind: "label", item: row.item ?? "", classes: [{ class: Number(select.value), weight: 1 }] }], { replace: true });
      }).then(read) } }, make("option", { value: "" }, T.edit), shared.project.classes.map((one) => make("option", { value: String(one.id) }, one.name)));
      const button = (/** @type {"undo"|"redo"} */ kind, /** @type {string} */ words) => make("button", { type: "button", class: "quiet", on: { click: () => turn(kind) } }, words);
      return make("tr", { class: row.undone ? "undone" : "" }, make("td", { class: "soft small" }, when(row.time)), make("td", {}, T.kinds[row.kind] ?? row.kind, row.undone && make("span", { class: "pill" }, T.historyUndone)), make("td", {}, row.together ? many(row) : foreign(row.item ?? "")),
        make("td", {}, foreign(row.text)), make("td", { class: "soft" }, foreign(row.annotator)), make("td", {}, row.kind === "label" && !row.undone && !row.together && select),
        make("td", {}, row.undoable && button("undo", T.historyUndo), row.undone && button("redo", T.historyRedo)));
    });
    if (!searching.isConnected) fill(body, make("div", { class: "row" }, searching), list);
    fill(list, rows.length ? make("div", { class: "scroll card", tabIndex: 0, role: "region", aria: { label: T.tabs.history } }, make("table", { class: "history" }, make("thead", {}, make("tr", {}, T.historyHeads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows))) : make("div", { class: "empty" }, searching.value ? T.searchNone : T.historyNone),
      page.total > rows.length && make("button", { type: "button", on: { click: () => { wanted += 200; read(); } } }, T.more));
  };

  return {
    element,
    show: () => { shown = true; read(); },
    hide: () => { shown = false; },
    key: (event) => {
      if (turnKey(event, read)) return true;
      if (tab() !== "suspects" && tab() !== "disagreements") return false;
      if (event.repeat && !event.key.startsWith("Arrow")) return false;
      if (event.key === "Enter") confirm();
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        place = Math.min(Math.max(0, place + (event.key === "ArrowDown" ? 1 : -1)), Math.max(0, doubts.length - 1));
        drawn = null;
        turns++;
        if (tab() === "suspects") drawDoubt(T.suspectsHow, T.suspectsNone); else drawDoubt(T.disagreementsHow, T.disagreementsNone);
      } else return picker.key(event);
      return true;
    },
    changed: (what) => { if (shown && (what === "model" || (what === "log" && (tab() === "conflicts" || tab() === "passed")))) read(); },
  };
}
