// The browsers that are signed in, and signing them out.

import { get, post } from "./api.js";
import { fill, make, toast } from "./dom.js";
import * as outbox from "./outbox.js";
import { complain } from "./refusals.js";
import { forget } from "./session.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").Schemas["SessionRow"]} Row */

/** A list that can be acted on. */
export function browsers() {
  const list = make("ul", { class: "plain" });
  const buttons = make("div", { class: "row" });

  /** @param {Row[]} rows */
  const draw = (rows) => {
    const others = rows.filter((one) => !one.mine);
    fill(list, rows.map((one) => make("li", { class: "row" }, make("span", { class: "soft small" }, T.sessionOf(one.browser, one.made, one.used), one.mine && ` (${T.thisBrowser})`),
      !one.mine && make("button", { type: "button", class: "quiet", on: { click: () => end([one]) } }, T.endSession))));
    fill(buttons, make("button", { type: "button", on: { click: () => signOut(rows.filter((one) => one.mine)) } }, T.signOut),
      others.length > 0 && make("button", { type: "button", on: { click: () => end(others) } }, T.endOthers));
  };

  /** @param {Row[]} rows */
  const end = async (rows) => {
    await post("sessions/end", { sessions: rows.map((one) => one.id) }).then(draw, complain);
  };

  /** @param {Row[]} mine */
  const signOut = async (mine) => {
    if (outbox.state().waiting) { toast(T.signOutWaits, "bad"); return; }
    try {
      await post("sessions/end", { sessions: mine.map((one) => one.id) });
      await forget();
      // Nothing of the project stays in this page.
      location.reload();
    } catch (error) {
      complain(error);
    }
  };

  get("sessions").then(draw, () => {});
  return make("section", { class: "browsers" }, make("h3", {}, T.browsers), list, buttons);
}
