// What stands beside an item: what is believed about it, and the labelled items it is most like.

import { dot } from "./classes.js";
import { foreign, make } from "./dom.js";
import { small } from "./show.js";
import { classOf } from "./state.js";
import { T } from "./strings.js";

/** Bars of belief, each with how far it may be off. @param {import("./types.js").Belief} belief */
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

/** The nearest labelled items as they look, with what they were called. @param {import("./types.js").ItemView} card */
export function nearest(card) {
  return make("ul", { class: `near ${card.show.kind}` }, card.nearest.map((near) => {
    const known = classOf(near.class);
    return make("li", { title: `${near.id}: ${known.name}` }, small(near.show, near.id, 96), make("span", { class: "row" }, dot(known), foreign(known.name)));
  }));
}
