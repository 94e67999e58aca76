// Talking to the server. Every request is signed, and nothing is believed that is not proven (session.js). A refusal is an
// error with a code and words for a person.

import * as session from "./session.js";
import { T } from "./strings.js";

/** The code of a server that has another project than this page. */
const ELSEWHERE = "C8";

/** @type {"here"|"elsewhere"} Whether the server of this page is at its address, as far as the last answers show. */
let place = "here";

/** @type {Set<(place: "here"|"elsewhere") => void>} */
const watchers = new Set();

/** Tells when another project is served at this address, and when ours is back. @param {(place: "here"|"elsewhere") => void} watcher */
export function onPlace(watcher) {
  watchers.add(watcher);
}

/** @param {"here"|"elsewhere"} now */
function atPlace(now) {
  if (place === now) return;
  place = now;
  for (const watcher of watchers) watcher(now);
}

/** What the server refused, or that it could not be reached (`status` 0). */
export class Refusal extends Error {
  /** @param {number} status @param {string} code @param {string} detail @param {Partial<import("./types.js").Problem>} [more] */
  constructor(status, code, detail, more = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    /** The label that stands and the label that came. */
    this.labels = more.labels;
    /** Where the answer is stored as a conflict. */
    this.conflict = more.conflict;
    /** In how many seconds it may be answered otherwise. */
    this.retryAfter = more.retry_after ?? 0;
    /** Somebody has been told. */
    this.told = false;
  }

  /** Whether it makes sense to send the same again later. */
  get passing() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500 || this.status === 401 || this.elsewhere;
  }

  /** Whether another project is served at this address. */
  get elsewhere() {
    return this.code === ELSEWHERE;
  }
}

/**
 * Sends a request and reads its answer, which is proven.
 * @param {string} path What follows /api/v1/, or the whole path.
 * @param {{method?: string, body?: string, signal?: AbortSignal, stream?: boolean}} [options] A stream is not read here.
 * @param {boolean} [last] What is refused is not tried again.
 * @returns {Promise<{answer: Response, bytes: ArrayBuffer}>}
 */
async function call(path, options = {}, last = false) {
  const { method = "GET", body = "", signal, stream = false } = options;
  const url = new URL(path.startsWith("/") ? path : `/api/v1/${path}`, location.origin);
  const { headers, asked } = await session.sign(method, url.pathname + url.search, body);
  if (session.project()) Object.assign(headers, { "x-dial": session.project(), "x-dial-place": session.place() });
  if (method !== "GET") headers["content-type"] = "application/json";
  /** @type {Response} */
  let answer;
  let bytes = new ArrayBuffer(0);
  try {
    answer = await fetch(url, { method, headers, body: method === "GET" ? undefined : body, credentials: "omit", cache: "no-store", signal });
    if (!stream || whole(answer)) bytes = await answer.arrayBuffer();
  } catch {
    throw new Refusal(0, "offline", T.unreachable);
  }
  const proven = await session.isProven(asked, answer, whole(answer) ? bytes : new ArrayBuffer(0));
  if (!proven) return unproven(answer, bytes, () => call(path, options, true), last);
  atPlace("here");
  if (answer.ok) return { answer, bytes };
  const problem = problemOf(bytes);
  throw new Refusal(answer.status, problem.code ?? "", problem.detail ?? answer.statusText, problem);
}

/** Whether an answer was made before it was sent; of any other the head is proven. @param {Response} answer */
const whole = (answer) => answer.headers.has("content-length");

/**
 * What becomes of an answer that proves nothing. It may be honest: of a server that was started anew, has ended our session,
 * or serves another project. In no case anything is saved or refused for good.
 * @template R
 * @param {Response} answer
 * @param {ArrayBuffer} bytes
 * @param {() => Promise<R>} retry
 * @param {boolean} last
 * @returns {Promise<R>}
 */
async function unproven(answer, bytes, retry, last) {
  const { code, detail } = problemOf(bytes);
  const signedOut = answer.status === 401 && code === "C7";
  if (code === ELSEWHERE || signedOut) {
    const now = await session.again().catch(() => "same");
    if (now === "changed" && !last) return retry();
    if (now === "elsewhere") {
      atPlace("elsewhere");
      throw new Refusal(409, ELSEWHERE, T.elsewhere);
    }
    if (signedOut) throw new Refusal(401, code, detail ?? "");
  }
  throw new Refusal(0, "unproven", T.unproven);
}

/** @param {ArrayBuffer} bytes @returns {Partial<import("./types.js").Problem>} */
function problemOf(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

/** @param {ArrayBuffer} bytes */
const json = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/**
 * @template {import("./types.js").Path<"get">} P
 * @param {P} path
 * @param {import("./types.js").Query<P>} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./types.js").Answer<"get", P>>}
 */
export async function get(path, query, signal) {
  return json((await call(withQuery(path, query), { signal })).bytes);
}

/**
 * Arrays of numbers, and the headers they come with.
 * @param {string} path
 * @returns {Promise<{bytes: ArrayBuffer, headers: Headers}>}
 */
export async function bytes(path) {
  const { answer, bytes: data } = await call(path);
  return { bytes: data, headers: answer.headers };
}

/**
 * Events as they come, from a server that has proven itself.
 * @param {string} path
 * @param {() => void} opened
 * @param {(name: string) => void} heard
 */
export async function events(path, opened, heard) {
  const { answer } = await call(path, { stream: true });
  opened();
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await (reader?.read() ?? { value: undefined, done: true });
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("event: ")) heard(line.slice(7));
  }
}

/**
 * @template {import("./types.js").Path<"post">} P
 * @param {P} path
 * @param {import("./types.js").Body<P>} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./types.js").Answer<"post", P>>}
 */
export async function post(path, body, signal) {
  return json((await call(path, { method: "POST", body: JSON.stringify(body), signal })).bytes);
}

/** @param {string} path @param {Record<string, any>} [query] */
export function withQuery(path, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length ? `${path}?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}` : path;
}

/** A key for a decision, new every time. */
export function newKey() {
  return crypto.randomUUID();
}
