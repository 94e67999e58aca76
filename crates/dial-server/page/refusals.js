// What the server refused, in people's words, with what can be done about it as buttons.

import { Refusal, newKey } from "./api.js";
import { announce, toast } from "./dom.js";
import { decide, itemOf } from "./outbox.js";
import { shared } from "./state.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").Submission} Submission */
/** @typedef {{text: string, offers: [string, () => void][]}} Words */

/**
 * Tells about something that the outbox could not deliver.
 * @param {Submission} submission
 * @param {Refusal} refusal
 */
export function tellRefusal(submission, refusal) {
  const { text, offers } = inWords(submission, refusal);
  toast(text, "bad", offers);
  announce(text);
}

/** Says what went wrong, unless that was said already. @param {unknown} error */
export function complain(error) {
  if (error instanceof Refusal && error.told) return;
  toast(sentence(error instanceof Error ? error.message : String(error)), "bad");
}

/** @param {Submission} submission @param {Refusal} refusal @returns {Words} */
function inWords(submission, refusal) {
  const again = () => { decide({ ...submission, key: newKey(), replace: true }).catch(() => {}); };
  const [first] = submission.decisions;
  const many = submission.decisions.length > 1;
  const { code, conflict, labels } = refusal;
  if (code === "C3" && conflict !== undefined && labels) {
    const resolve = () => { decide({ key: newKey(), annotator: submission.annotator, decisions: [{ kind: "resolve", conflict }] }).catch(() => {}); };
    return { text: T.contradiction(itemOf(first), labels[0], labels[1]), offers: [[T.take(labels[1]), again], [T.keep(labels[0]), resolve]] };
  }
  if (code === "C3" && many) return { text: T.contradictions, offers: [[T.replaceAll, again]] };
  if (code === "C6") return { text: T.classGoneFor(itemOf(first)), offers: [[T.look, () => lookAt("conflicts")]] };
  if (code === "C5") return ofClasses(submission, refusal);
  if (refusal.status === 404) return { text: T.gone, offers: [] };
  return { text: sentence(refusal.message), offers: [] };
}

/** What cannot be undone, and names that are taken. @param {Submission} submission @param {Refusal} refusal @returns {Words} */
function ofClasses(submission, refusal) {
  const [first] = submission.decisions;
  if (first.kind === "undo" || first.kind === "redo") {
    const nothing = refusal.message.startsWith("there is nothing");
    if (nothing) return { text: first.kind === "undo" ? T.nothingToUndo : T.nothingToRedo, offers: [] };
    const last = refusal.message.includes("two classes");
    return { text: last ? T.undoTwoClasses : sentence(refusal.message), offers: last ? [] : [[T.look, () => lookAt("history")]] };
  }
  const other = shared.project.classes.find((one) => "name" in first && one.name === first.name);
  if (!other) return { text: sentence(refusal.message), offers: [] };
  if (first.kind !== "rename-class") return { text: T.nameTaken(other.name), offers: [] };
  const merge = () => { decide({ key: newKey(), annotator: submission.annotator, decisions: [{ kind: "merge-class", from: first.class, into: other.id }] }).catch(() => {}); };
  return { text: T.nameTaken(other.name), offers: [[T.mergeBoth, merge]] };
}

/** Leads to a part of Review. @param {keyof typeof T.tabs} tab */
function lookAt(tab) {
  shared.review = tab;
  document.querySelector("dialog")?.close();
  if (location.hash === "#review") dispatchEvent(new Event("hashchange")); else location.hash = "#review";
}

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
