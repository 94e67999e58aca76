// Progress: how many labels, how good the rest is, and whether to stop.

import * as api from "../api.js";
import { reliability, share } from "../chart.js";
import { calmly, fill, foreign, make } from "../dom.js";
import { modelHint } from "../model_hint.js";
import { annotator, shared } from "../state.js";
import { T, number, percent } from "../strings.js";

/** @returns {import("../types.js").View} */
export function progressView() {
  const body = make("div", { class: "progress" });
  const element = make("div", { class: "view progress-view" }, make("header", {}, make("h2", {}, T.progressTitle)), body);
  let shown = false;
  let turns = 0;

  /** @param {string} value @param {string} words @param {string} [why] */
  const figure = (value, words, why) => make("section", { class: "card pad figure" }, make("p", { class: "value" }, value), make("p", {}, words), why && make("p", { class: "soft small" }, why));

  const read = async () => {
    if (!shown) return;
    const turn = ++turns;
    try {
      const [estimates, progress, calibration, history] = await Promise.all([
        api.get("estimates"), api.get("progress"), api.get("calibration"), api.get("history", { limit: 500, search: "label" }),
      ]);
      // Answers may overtake each other.
      if (turn === turns) draw(estimates, progress.points, calibration, pace(history.rows));
    } catch (error) {
      if (turn !== turns) return;
      fill(body, make("div", { class: "empty" }, make("h2", {}, T.broken), make("p", {}, /** @type {Error} */ (error).message), make("button", { on: { click: read } }, T.retry)));
    }
  };

  /**
   * Labels a minute of whoever labels here, over the last ten minutes.
   * @param {import("../types.js").HistoryRow[]} rows
   */
  const pace = (rows) => {
    // Many labels in one step are no questions that somebody answered.
    const labels = rows.filter((row) => row.kind === "label" && row.annotator === annotator());
    /** @type {Map<number, number>} */
    const sizes = new Map();
    for (const row of labels) sizes.set(row.group, (sizes.get(row.group) ?? 0) + 1);
    const mine = labels.filter((row) => sizes.get(row.group) === 1);
    const last = mine[0]?.time ?? 0;
    const recent = mine.filter((row) => row.time > last - 600000);
    const minutes = (last - (recent[recent.length - 1]?.time ?? last)) / 60000;
    return recent.length > 2 && minutes > 0.05 ? (recent.length - 1) / minutes : null;
  };

  /**
   * @param {import("../types.js").Estimates|null} estimates
   * @param {import("../types.js").Point[]} points
   * @param {import("../types.js").Calibration} calibration
   * @param {number|null} perMinute
   */
  const draw = (estimates, points, calibration, perMinute) => {
    if (!estimates || estimates.labelled === 0) return fill(body, make("div", { class: "empty card" }, make("h2", {}, T.progressNone), make("a", { class: "button main", href: "#label" }, T.views.label)), modelHint());
    const { accuracy, audit, advice } = estimates;
    const noAccuracy = estimates.no_accuracy ?? T.accuracyLater;
    const about = shared.project.item_word === "text" ? `${T.accuracyWhy}. ${T.accuracyTexts}` : T.accuracyWhy;
    const complete = estimates.classes_met === estimates.classes;
    const measured = points.flatMap(({ labelled: x, accuracy: one }) => one ? [{ x, y: one.mean, low: one.low, high: one.high }] : []);
    fill(body,
      make("section", { class: `card pad advice ${advice.verdict}` }, make("h2", {}, T.verdict[advice.verdict]), make("ul", {}, advice.reasons.map((reason) => make("li", {}, reason))),
        !complete && make("button", { type: "button", on: { click: () => dispatchEvent(new Event("dial-edit-classes")) } }, T.editClasses)),
      make("div", { class: "figures" },
        figure(number(estimates.labelled), T.given),
        figure(`${estimates.classes_met} / ${estimates.classes}`, T.met),
        figure(complete ? percent(estimates.settled) : "–", T.settled, T.settledWhy),
        figure(accuracy ? percent(accuracy.mean, 1) : "–", T.accuracy, accuracy ? `${percent(accuracy.low)} – ${percent(accuracy.high)}, ${about}` : noAccuracy),
        audit && figure(percent(audit[0].mean, 1), T.audit(audit[1]), `${percent(audit[0].low)} – ${percent(audit[0].high)}, ${T.auditWhy}`),
        figure(perMinute === null ? "–" : perMinute.toFixed(1), T.pace, T.paceWhy)),
      modelHint(),
      make("div", { class: "charts" },
        make("section", { class: "card pad" }, make("h3", {}, T.accuracyOver), measured.length > 1 ? share(measured, T.accuracyOver) : make("p", { class: "soft" }, accuracy ? T.accuracyLater : noAccuracy)),
        make("section", { class: "card pad" }, make("h3", {}, T.settledOver), share(points.filter((point) => point.classes_met >= estimates.classes).map((point) => ({ x: point.labelled, y: point.settled })), T.settledOver)),
        make("section", { class: "card pad" }, make("h3", {}, T.calibrationTitle), calibration.bins.length > 1 ? reliability(calibration.bins) : make("p", { class: "soft" }, T.calibrationNone), make("p", { class: "soft small" }, T.calibrationHow)),
        make("section", { class: "card pad" }, make("h3", {}, T.byClass), counts(shared.project.classes.map((one) => ({ name: one.name, count: one.labels, colour: one.colour })))),
        Object.keys(shared.project.annotators).length > 1 && make("section", { class: "card pad" }, make("h3", {}, T.byPerson),
          counts(Object.entries(shared.project.annotators).map(([name, count]) => ({ name: name || T.nobody, count, colour: "var(--accent)" }))))));
  };

  /** @param {{name: string, count: number, colour: string}[]} rows */
  const counts = (rows) => {
    const most = Math.max(1, ...rows.map((row) => row.count));
    return make("ul", { class: "bars" }, rows.map((row) => make("li", {}, make("span", { class: "name" }, foreign(row.name)),
      make("span", { class: "bar", aria: { hidden: "true" } }, make("i", { style: { width: `${(100 * row.count) / most}%`, "--hue": row.colour } })), make("span", { class: "percent" }, number(row.count)))));
  };

  const calm = calmly(read, 800);
  return {
    element,
    show: () => { shown = true; read(); },
    hide: () => { shown = false; },
    changed: (what) => { if (shown && (what === "model" || what === "project")) calm(); },
  };
}
