// Export: the labels and beliefs as a file, with a look at it before.

import * as api from "../api.js";
import { fill, foreign, make } from "../dom.js";
import { shared } from "../state.js";
import { T } from "../strings.js";

/** Rows of the preview. */
const ROWS = 12;

/** @returns {import("../types.js").View} */
export function exportView() {
  const choices = make("div", { class: "formats" });
  const preview = make("div", { class: "scroll card", tabIndex: 0, role: "region", aria: { label: T.preview } });
  const only = make("input", { type: "checkbox", on: { change: () => { drawChoices(); read(); } } });
  const element = make("div", { class: "view export-view" }, make("header", {}, make("h2", {}, T.exportTitle), make("p", {}, T.exportHow)),
    make("label", { class: "field" }, only, T.labelsOnly), choices, make("h3", {}, T.preview), preview);

  const drawChoices = () => fill(choices, Object.entries(T.formats).map(([format, [name, what]]) => make("a", {
    class: "card pad format", href: `/api/v1/${api.withQuery("export", { format, labels_only: only.checked })}`, download: `${shared.project.name}.${format}`, data: { format },
  }, make("strong", {}, T.download(name)), make("span", { class: "soft small" }, what))));

  const read = async () => {
    try {
      const page = await api.get("items", { limit: ROWS, labelled: only.checked || null });
      const names = shared.project.classes;
      const rows = page.rows.map((row) => make("tr", {}, make("td", {}, foreign(row.id)),
        make("td", {}, foreign(row.labels.map((label) => label.classes.map((share) => names.find((one) => one.id === share.class)?.name ?? "").join(" / ")).join(" | "))),
        make("td", {}, foreign(row.labels.map((label) => label.annotator).join(" | "))),
        !only.checked && [make("td", {}, foreign(names.find((one) => one.id === row.belief.class)?.name ?? "")),
          make("td", { class: "number" }, Math.max(...row.belief.probabilities.map((one) => one.probability)).toFixed(3)),
          make("td", { class: "number" }, row.belief.variance.toFixed(4)), make("td", { class: "number" }, row.belief.evidence.toFixed(2))]));
      const heads = only.checked ? T.columns.slice(0, 3) : T.columns;
      if (!rows.length) return fill(preview, make("div", { class: "empty" }, only.checked ? T.exportNone : T.bulkNotYet));
      fill(preview, make("table", {}, make("thead", {}, make("tr", {}, heads.map((head, i) => make("th", { scope: "col", class: i > 3 ? "number" : "" }, head)))), make("tbody", {}, rows)),
        make("p", { class: "soft small pad" }, T.previewRows(rows.length, page.total)));
    } catch (error) {
      fill(preview, make("div", { class: "empty" }, make("h2", {}, T.broken), make("p", {}, /** @type {Error} */ (error).message)));
    }
  };

  let shown = false;
  return {
    element,
    show: () => { shown = true; drawChoices(); read(); },
    hide: () => { shown = false; },
    changed: (what) => { if (shown && what === "model") read(); },
  };
}
