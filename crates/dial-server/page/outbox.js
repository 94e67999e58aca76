// The outbox: a decision is kept in this browser until the server has acknowledged it.
//
//   decide -> IndexedDB -> sent in order, again and again, by its key -> acknowledged -> removed
//
// Only an answer that is proven to come from the server of this project (session.js) acknowledges or refuses anything.
// A reload, a crash, a restart of the server or being signed out lose nothing: what is there is sent when it can be. Tabs
// share the outbox; the one that holds the lock sends. A decision that the server refuses for good is taken out, and its sender is told.

import { Refusal, get, post } from "./api.js";
import { T } from "./strings.js";

/** @typedef {import("./types.js").Submission} Submission */
/** @typedef {import("./types.js").Stored} Stored */
/** @typedef {{place?: number, unkept?: boolean, project: string, home?: string, submission: Submission}} Entry `home` is the place of the project; `place` is that in the outbox. */
/** @typedef {{waiting: number, unkept: number, trouble: "none"|"offline"|"unproven"|"elsewhere"|"signed-out", lasting: boolean}} State */

const NAME = "dial-outbox";
const TABLE = "submissions";

/** @type {IDBDatabase|null} Without it (some private windows) entries live in memory only. */
let database = null;
/** @type {Entry[]} */
let waiting = [];
/** @type {Map<string, {submission: Submission, resolve: (stored: Stored) => void, reject: (error: Error) => void}>} */
const senders = new Map();
/** @type {Set<(state: State) => void>} */
const listeners = new Set();
/** @type {State["trouble"]} */
let trouble = "none";
let project = "";
let home = "";
let sending = false;
let retry = 0;
/** @type {(submission: Submission, refusal: Refusal) => void} */
let refused = () => {};

/**
 * Opens the outbox of a project at its place and sends what an earlier page left. Answers for a copy of it stay where they are.
 * @param {string} id
 * @param {string} at
 * @param {(submission: Submission, refusal: Refusal) => void} onRefused
 */
export async function open(id, at, onRefused) {
  [project, home] = [id, at];
  refused = onRefused;
  database = await openDatabase().catch(() => null);
  waiting = (await stored()).filter(isOurs);
  tell();
  send();
  addEventListener("online", () => send());
  document.addEventListener("visibilitychange", () => { if (!document.hidden) send(); });
}

/** @param {(state: State) => void} listener */
export function onState(listener) {
  listeners.add(listener);
  listener(state());
}

/** @returns {State} */
export function state() {
  return { waiting: waiting.length, unkept: waiting.filter((entry) => entry.unkept).length, trouble, lasting: database !== null };
}

/** The items that decisions wait for. @returns {string[]} */
export function items() {
  return waiting.flatMap((entry) => entry.submission.decisions.map(itemOf)).filter((item) => item !== "");
}

/** The item that a decision is about; empty: none. @param {import("./types.js").Decision} decision */
export function itemOf(decision) {
  return "item" in decision ? decision.item : "";
}

/**
 * Keeps a decision and sends it. Resolves when it is on the disk of the server; rejects if it is refused for good.
 * @param {Submission} submission
 * @returns {Promise<Stored>}
 */
export async function decide(submission) {
  /** @type {Entry} */
  const entry = { project, home, submission };
  const answer = new Promise((resolve, reject) => senders.set(submission.key, { submission, resolve, reject }));
  // A sender that does not wait for its answer is told by `refused`.
  answer.catch(() => {});
  waiting.push(entry);
  tell();
  try {
    entry.place = await keep(entry);
  } catch {
    // It is sent all the same, but until then this page is all that has it: that must be said.
    entry.unkept = true;
    tell();
  }
  send();
  return answer;
}

/** Sends what waits, one after another. Called again whenever there may be hope. */
export async function send() {
  if (sending) return;
  sending = true;
  clearTimeout(retry);
  try {
    await alone(async () => {
      if (database) await refresh();
      // After a trouble nothing is sent to whoever answers now before the server has proven itself.
      if (waiting.length && trouble !== "none") await get("project").catch(passed);
      while (waiting.length) {
        const entry = waiting[0];
        try {
          const answer = await post("decisions", entry.submission);
          await done(entry);
          trouble = "none";
          senders.get(entry.submission.key)?.resolve(answer);
        } catch (error) {
          const refusal = error instanceof Refusal ? error : new Refusal(0, "", String(error));
          if (refusal.passing) passed(refusal);
          await done(entry);
          trouble = "none";
          turnDown(entry.submission, refusal);
        }
        senders.delete(entry.submission.key);
        tell();
      }
      await settle();
      trouble = "none";
    });
  } catch {
    retry = setTimeout(send, 1500);
  } finally {
    sending = false;
    tell();
    if (waiting.length && trouble === "none") send();
  }
}

/** What keeps answers here for now. @param {unknown} error @returns {never} */
function passed(error) {
  const refusal = error instanceof Refusal ? error : new Refusal(0, "", String(error));
  trouble = refusal.elsewhere ? "elsewhere" : refusal.status === 401 ? "signed-out" : refusal.code === "unproven" ? "unproven" : "offline";
  throw refusal;
}

/** Says that something was refused for good: first to people, then to whoever waits for it. @param {Submission} submission @param {Refusal} refusal */
function turnDown(submission, refusal) {
  refusal.told = true;
  refused(submission, refusal);
  senders.get(submission.key)?.reject(refusal);
}

/** What waits, as a text that can be kept elsewhere and taken up again. */
export function written() {
  return JSON.stringify({ project, submissions: waiting.map((entry) => entry.submission) }, null, 1);
}

/**
 * Takes up what was written, also long after. Keys are kept, so that nothing is stored twice.
 * @param {string} text
 * @returns {number} How many there are.
 */
export function takeUp(text) {
  const found = JSON.parse(text);
  if (found.project !== project || !Array.isArray(found.submissions)) throw new Error(T.fileOther);
  // Nobody waits for them; one that is refused says so itself.
  for (const one of found.submissions) decide(one).catch(() => {});
  return found.submissions.length;
}

/** What another tab has sent for this one is asked again, by its key: whoever waits here gets the same answer. */
async function settle() {
  for (const [key, { submission, resolve, reject }] of senders) {
    if (waiting.some((entry) => entry.submission.key === key)) continue;
    try {
      resolve(await post("decisions", submission));
    } catch (error) {
      if (!(error instanceof Refusal)) reject(/** @type {Error} */ (error));
      else if (error.passing) throw error;
      else turnDown(submission, error);
    }
    senders.delete(key);
  }
}

/** Entries that other tabs have added or sent meanwhile. */
async function refresh() {
  const there = (await stored()).filter(isOurs);
  const unkept = waiting.filter((entry) => entry.place === undefined);
  waiting = [...there, ...unkept.filter((entry) => there.every((other) => other.submission.key !== entry.submission.key))];
}

/** @param {Entry} entry */
const isOurs = (entry) => entry.project === project && (entry.home ?? home) === home;

/** @param {Entry} entry */
async function done(entry) {
  waiting = waiting.filter((other) => other.submission.key !== entry.submission.key);
  const place = entry.place;
  if (database && place !== undefined) await within("readwrite", (table) => table.delete(place)).catch(() => {});
}

/** @param {() => Promise<void>} work One tab at a time. */
async function alone(work) {
  if (!navigator.locks || !database) return work();
  await navigator.locks.request(`dial-outbox-${project}-${home}`, work);
}

function tell() {
  for (const listener of listeners) listener(state());
}

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE, { keyPath: "place", autoIncrement: true });
    request.onsuccess = () => {
      // The browser may close it, for want of room or because somebody clears its data.
      request.result.onclose = () => { database = null; tell(); };
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(table: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T>} When the transaction is complete.
 */
function within(mode, work) {
  return new Promise((resolve, reject) => {
    if (!database) return reject(new Error("no database"));
    const transaction = database.transaction(TABLE, mode, { durability: "strict" });
    const request = work(transaction.objectStore(TABLE));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** @returns {Promise<Entry[]>} */
async function stored() {
  return database ? within("readonly", (table) => table.getAll()).catch(() => []) : [];
}

/** @param {Entry} entry @returns {Promise<number>} */
async function keep(entry) {
  const plain = { project: entry.project, home: entry.home, submission: entry.submission };
  return Number(await within("readwrite", (table) => table.add(plain)));
}
