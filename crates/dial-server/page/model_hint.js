// What a model would bring to texts and pictures that are described without one, and how to get it: said until somebody dismisses it.

import { open } from "./dialogs.js";
import { fill, foreign, make, toast } from "./dom.js";
import { get } from "./api.js";
import { complain } from "./refusals.js";
import { shared } from "./state.js";
import { T } from "./strings.js";

const key = () => `dial-model-hint-${shared.project.id}`;

/** What is known of the items of a word, or undefined of those that no model embeds. */
const words = () => T.models[shared.project.item_word];

/** A quiet card, or null where there is nothing to gain or somebody has dismissed it in this browser. @returns {HTMLElement|null} */
export function modelHint() {
  const about = words();
  if (!about || !shared.project.without_model || localStorage.getItem(key())) return null;
  const dismiss = () => {
    localStorage.setItem(key(), "dismissed");
    card.remove();
  };
  const card = make("section", { class: "card pad model-hint" }, make("h3", {}, T.modelTitle), make("p", { class: "small" }, about.hint),
    make("div", { class: "row" }, make("button", { type: "button", on: { click: explain } }, T.modelHow), make("button", { type: "button", class: "quiet", on: { click: dismiss } }, T.modelDismiss)));
  return card;
}

/** What it brings, and the commands, with the names of this project. */
async function explain() {
  try {
    const { pool } = await get("status");
    const about = words();
    const [project, place] = [`${shared.project.name}.dial`, pool].map(quoted);
    open(T.modelTitle, () => [make("p", {}, about.brings), make("p", {}, T.modelStays), make("h3", {}, about.getTitle), commands(about.get(pool)), make("p", { class: "soft small" }, about.getNote),
      make("h3", {}, T.modelUse), commands(about.use(project, place)), make("p", { class: "soft small" }, T.modelMore)], "wide-dialog");
  } catch (error) {
    complain(error);
  }
}

/** A word of a command line as shells take it. @param {string} word */
const quoted = (word) => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** @param {string} text */
function commands(text) {
  const copy = make("button", { type: "button", class: "quiet", on: { click: async () => {
    try { await navigator.clipboard.writeText(text); toast(T.copied, "good"); } catch (error) { complain(error); }
  } } }, T.copy);
  const code = make("pre", { tabIndex: 0, role: "region", aria: { label: T.commandsLabel } });
  fill(code, foreign(text));
  return make("div", { class: "commands" }, code, copy);
}
