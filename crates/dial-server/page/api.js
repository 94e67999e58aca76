// Talking to the server. A refusal is an error with a code and words for a person.

import { T } from "./strings.js";

/** What the server refused, or that it could not be reached (`status` 0). */
export class Refusal extends Error {
  /** @param {number} status @param {string} code @param {string} detail @param {Partial<import("./types.js").Problem>} [more] */
  constructor(status, code, detail, more = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    /** The label that stands and the label that came. */
    this.said = more.said;
    /** Where the answer is kept aside. */
    this.conflict = more.conflict;
    /** Somebody has been told. */
    this.told = false;
  }

  /** Whether it makes sense to send the same again later. */
  get passing() {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500 || this.status === 401;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
async function call(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`/api/v1/${path}`, { credentials: "same-origin", ...options });
  } catch {
    throw new Refusal(0, "offline", T.unreachable);
  }
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  throw new Refusal(answer.status, problem.code ?? "", problem.detail ?? answer.statusText, problem);
}

/**
 * @template {import("./types.js").Path<"get">} P
 * @param {P} path
 * @param {import("./types.js").Query<P>} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./types.js").Answer<"get", P>>}
 */
export async function get(path, query, signal) {
  return (await call(withQuery(path, query), { signal })).json();
}

/**
 * Arrays of numbers, and the headers they come with.
 * @param {string} path
 * @returns {Promise<{bytes: ArrayBuffer, headers: Headers}>}
 */
export async function bytes(path) {
  const answer = await call(path);
  return { bytes: await answer.arrayBuffer(), headers: answer.headers };
}

/** @param {string} path @param {Record<string, any>} [query] @returns {Promise<string>} */
export async function text(path, query = {}) {
  return (await call(withQuery(path, query))).text();
}

/**
 * @template {import("./types.js").Path<"post">} P
 * @param {P} path
 * @param {import("./types.js").Body<P>} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./types.js").Answer<"post", P>>}
 */
export async function post(path, body, signal) {
  const headers = { "content-type": "application/json", "x-dial": "1" };
  return (await call(path, { method: "POST", headers, body: JSON.stringify(body), signal })).json();
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
