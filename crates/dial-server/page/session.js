// The session of this browser: who is at the other end, and how each shows it to the other.
//
//   link with a code behind # -> POST /sign-in -> name and key of a session -> IndexedDB, for all tabs of this browser
//   request -> signed with the key     the key itself is never sent, and no script can read it, ours included
//   answer  -> proven with the key     whoever has only taken over the port can prove nothing
//
// What is signed and proven is written down in docs/api.md.

import { T } from "./strings.js";

/** @typedef {{project: string, place: string, session: string, key: CryptoKey}} Session */
/** @typedef {{host: string, method: string, target: string, nonce: string, body: string}} Asked */

const NAME = "dial-session";
const TABLE = "sessions";
const VERSION = 2;
const LAUNCH = "#launch=";

/** The hash of an empty body. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/**
 * Which project is served here, at which place, and by which run of the server. Anybody can say so; only a proof shows that it is
 * true. Copies of a project have its id; only the place tells them apart.
 */
let here = { project: "", place: "", run: "" };
/** @type {Session|null} */
let session = null;
/** The project of this page and its place, once they are known. Another one is never taken instead. */
let ours = { project: "", place: "" };

/** Whether this address leads to a new session. */
export const hasLaunchCode = () => location.hash.startsWith(LAUNCH);

/** The id of the project of this page. */
export const project = () => ours.project;

/** The id of the place of that project, which no copy of it has. */
export const place = () => ours.place;

/** What tabs of this browser call the project of this page, so that those of a copy of it do not hear them. */
export const line = () => `${ours.project} ${ours.place}`;

/**
 * Finds out who is there, and takes the session of this browser, a new one if the address has a launch code.
 * @returns {Promise<boolean>} Whether there is a session.
 */
export async function begin() {
  const code = hasLaunchCode() ? location.hash.slice(LAUNCH.length) : "";
  // Out of the address before anything else happens: it must not be copied from there.
  if (code) history.replaceState(null, "", location.pathname);
  await meet();
  if (code) await signIn(code);
  session ??= await kept(here);
  if (session) ours = { project: session.project, place: session.place };
  return session !== null;
}

/**
 * Looks again who is there, after a refusal: the server may have been started anew, or another tab may have signed in.
 * @returns {Promise<"changed"|"same"|"elsewhere">} `changed`: it makes sense to ask again.
 */
export async function again() {
  const before = [here.run, session?.session].join();
  await meet();
  if (ours.project && (here.project !== ours.project || here.place !== ours.place)) return "elsewhere";
  session = await kept(here) ?? session;
  return [here.run, session?.session].join() === before ? "same" : "changed";
}

/** Forgets the session of this browser, in all its tabs. */
export async function forget() {
  session = null;
  const database = await opened();
  await whole(database.transaction(TABLE, "readwrite").objectStore(TABLE).delete([ours.project, ours.place]));
  database.close();
}

/**
 * Signs a request.
 * @param {string} method
 * @param {string} target The path with its query, as it is sent.
 * @param {string} body
 * @returns {Promise<{headers: Record<string, string>, asked: Asked}>}
 */
export async function sign(method, target, body) {
  const asked = { host: location.host, method, target, nonce: crypto.randomUUID(), body: body ? await hash(bytesOf(body)) : EMPTY };
  if (!session) return { headers: {}, asked };
  const signature = hex(await crypto.subtle.sign("HMAC", session.key, bytesOf(`dial request\n${exchange(asked)}`)));
  return { headers: { authorization: `Dial ${session.session}.${asked.nonce}.${asked.body}.${signature}` }, asked };
}

/**
 * Whether an answer comes from a server that has our key, and is the answer to this request.
 * @param {Asked} asked
 * @param {Response} answer
 * @param {ArrayBuffer} body
 */
export async function isProven(asked, answer, body) {
  const proof = answer.headers.get("x-dial-proof");
  if (!session || !proof) return false;
  const head = bytesOf(`dial answer\n${exchange(asked)}\n${answer.status}\n`);
  const whole = new Uint8Array(head.length + body.byteLength);
  whole.set(head);
  whole.set(new Uint8Array(body), head.length);
  const bytes = Uint8Array.from(proof.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify("HMAC", session.key, bytes, whole);
}

/** @param {Asked} asked */
const exchange = ({ host, method, target, nonce, body }) => [here.run, host, method, target, nonce, body].join("\n");

/** @param {string} text */
const bytesOf = (text) => new TextEncoder().encode(text);

/** @param {BufferSource} bytes */
const hash = async (bytes) => hex(await crypto.subtle.digest("SHA-256", bytes));

/** @param {ArrayBuffer} bytes */
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function meet() {
  try {
    here = await (await fetch("/hello", { cache: "no-store" })).json();
  } catch {
    throw new Error(T.unreachable);
  }
}

/** @param {string} code */
async function signIn(code) {
  const answer = await fetch("/sign-in", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) });
  // A link that was used before is no harm where there is a session already.
  if (!answer.ok) return;
  const found = await answer.json();
  const key = await crypto.subtle.importKey("raw", bytesOf(found.key), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  session = { project: here.project, place: here.place, session: found.session, key };
  try {
    const database = await opened();
    await whole(database.transaction(TABLE, "readwrite").objectStore(TABLE).put(session));
    database.close();
  } catch {
    // A browser that keeps nothing is signed in until this page is closed or read again.
  }
}

/** @param {{project: string, place: string}} of @returns {Promise<Session|null>} */
async function kept(of) {
  try {
    const database = await opened();
    const found = await whole(database.transaction(TABLE).objectStore(TABLE).get([of.project, of.place]));
    database.close();
    return found ?? null;
  } catch {
    return null;
  }
}

/** @returns {Promise<IDBDatabase>} */
function opened() {
  const request = indexedDB.open(NAME, VERSION);
  request.onupgradeneeded = () => {
    // Sessions of before say nothing about the place: who has one signs in again.
    if (request.result.objectStoreNames.contains(TABLE)) request.result.deleteObjectStore(TABLE);
    request.result.createObjectStore(TABLE, { keyPath: ["project", "place"] });
  };
  return whole(request);
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function whole(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
