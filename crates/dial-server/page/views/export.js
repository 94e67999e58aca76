// Export: labels and predictions as a file, with a look at it before, and how to train on it.

import * as api from "../api.js";
import { fill, foreign, make, saveAs, toast } from "../dom.js";
import { complain } from "../refusals.js";
import { shared } from "../state.js";
import { T } from "../strings.js";

/** Rows of the preview. */
const ROWS = 12;
/** Columns of the preview, where they are not all empty. */
const COLUMNS = ["id", "label", "weight", "agreement", "source", "annotator", "mark", "predicted", "probability", "variance", "evidence"];
/** Columns of which a preview without predictions has none. */
const PREDICTED = new Set(["predicted", "probability", "variance", "evidence"]);
/** Digits after the point of a number. */
const DIGITS = 3;

/** @returns {import("../types.js").View} */
export function exportView() {
  const choices = make("div", { class: "formats" });
  const preview = make("div", { class: "scroll card", tabIndex: 0, role: "region", aria: { label: T.preview } });
  const only = make("input", { type: "checkbox", on: { change: () => { originals.checked = reads() && !only.checked; read(); } } });
  const originals = make("input", { type: "checkbox" });
  const code = make("code", {});
  const copy = make("button", { type: "button", class: "quiet", on: { click: async () => {
    try { await navigator.clipboard.writeText(code.textContent ?? ""); toast(T.copied, "good"); } catch (error) { complain(error); }
  } } }, T.copy);
  const element = make("div", { class: "view export-view" }, make("header", {}, make("h2", {}, T.exportTitle), make("p", {}, T.exportHow)),
    make("div", { class: "row" }, make("label", { class: "field" }, only, T.labelsOnly), make("label", { class: "field" }, originals, T.originals)), choices,
    make("h3", {}, T.preview), preview,
    make("h3", {}, T.trainTitle), make("div", { class: "card pad snippet" }, make("div", { class: "row" }, make("span", { class: "soft" }, T.trainHow), copy), make("pre", { class: "scroll", tabIndex: 0, role: "region", aria: { label: T.trainTitle } }, code)));

  /** Whether people read the items: then the file has their columns unless it is told otherwise. */
  const reads = () => ["text", "row"].includes(shared.project.item_word);

  /** Fetches the file, which may take a while, and hands it to the browser. @param {HTMLButtonElement} button @param {string} format */
  const take = async (button, format) => {
    button.disabled = true;
    try {
      const asked = { format, labels_only: only.checked, original_columns: format === "maps" ? null : originals.checked };
      const { bytes } = await api.bytes(api.withQuery("export", asked));
      saveAs(new Blob([bytes]), format === "maps" ? `${shared.project.name}-maps.zip` : `${shared.project.name}.${format}`);
    } catch (error) {
      complain(error);
    }
    button.disabled = false;
  };

  const drawChoices = () => fill(choices, Object.entries(T.formats).filter(([format]) => format !== "maps" || shared.project.item_word === "pixel").map(([format, [name, what]]) => make("button", {
    type: "button", class: "card pad format", data: { format }, on: { click: (/** @type {Event} */ event) => take(/** @type {HTMLButtonElement} */ (event.currentTarget), format) },
  }, make("strong", {}, T.download(name)), make("span", { class: "soft small" }, what))));

  /** @param {unknown} value */
  const cell = (value) => typeof value === "number"
    ? make("td", { class: "number" }, Number.isInteger(value) ? String(value) : value.toFixed(DIGITS))
    : make("td", {}, foreign(value === null || value === undefined ? "" : String(value)));

  let turns = 0;
  const read = async () => {
    const turn = ++turns;
    try {
      const { bytes } = await api.bytes(api.withQuery("export", { format: "jsonl", labels_only: only.checked, preview: ROWS }));
      // Answers may overtake each other.
      if (turn !== turns) return;
      const lines = new TextDecoder().decode(bytes).split("\n").filter(Boolean);
      /** @type {Record<string, unknown>[]} */
      const rows = lines.map((line) => JSON.parse(line));
      const columns = COLUMNS.filter((name) => !only.checked || !PREDICTED.has(name));
      const number = (/** @type {string} */ name) => rows.some((row) => typeof row[name] === "number");
      fill(preview, make("table", {}, make("thead", {}, make("tr", {}, columns.map((name) => make("th", { scope: "col", class: number(name) ? "number" : "" }, name)))),
        make("tbody", {}, rows.map((row) => make("tr", {}, columns.map((name) => cell(row[name])))))),
        make("p", { class: "soft small pad" }, shared.project.labelled ? T.previewRows(rows.length, shared.project.items) : T.exportNone));
    } catch (error) {
      if (turn !== turns) return;
      fill(preview, make("div", { class: "empty" }, make("h2", {}, T.broken), make("p", {}, /** @type {Error} */ (error).message)));
    }
  };

  /** How to train on the CSV: the server knows the columns. */
  const example = async () => {
    try { code.textContent = (await api.get("export/example")).code; } catch (error) { code.textContent = /** @type {Error} */ (error).message; }
  };

  let shown = false;
  return {
    element,
    show: () => {
      shown = true;
      originals.checked = reads() && !only.checked;
      example();
      drawChoices();
      read();
    },
    hide: () => { shown = false; },
    changed: (what) => { if (shown && what === "model") read(); },
  };
}
