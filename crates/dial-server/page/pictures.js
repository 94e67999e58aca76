// Pictures of the server. Asking for one takes a signature, which an <img> cannot send; so they are fetched here and given
// to the <img> as blobs. The last ones are kept for as long as the page lives, and nowhere else.

import { bytes } from "./api.js";

/** So many are kept: more than a page of Bulk shows. */
const KEPT = 400;
/** And so many bytes of them: large photos are some megabytes each. */
const KEPT_BYTES = 256 << 20;

/** The longest sides in which a picture is asked for, so that a window that is drawn larger does not ask for each in between. */
const SIDES = [512, 1024, 2048, 4096];

/** @type {Map<string, {wanted: Promise<string>, url: string, bytes: number}>} In the order in which they were wanted last. */
const pictures = new Map();
let kept = 0;
/** The pixels of the frame in which a picture was shown last: the next one will stand there too. */
let room = 0;

/**
 * The path of a picture with enough pixels.
 * @param {string} url
 * @param {number} [side] The longest side of its frame, in pixels of the screen; without it, that of the last one.
 * @param {number} [closer] How much larger than its frame it is drawn.
 */
export function sized(url, side = room || Math.max(innerWidth, innerHeight) * devicePixelRatio * 0.6, closer = 1) {
  room = side;
  return `${url}&side=${SIDES.find((one) => one >= side * closer) ?? SIDES[SIDES.length - 1]}`;
}

/** Where a picture is now, or an empty text if it is not here yet. @param {string} path */
export const pictureNow = (path) => pictures.get(path)?.url ?? "";

/**
 * Fetches a picture, unless it is here.
 * @param {string} path
 * @returns {Promise<string>}
 */
export function picture(path) {
  const found = pictures.get(path) ?? fetched(path);
  pictures.delete(path);
  pictures.set(path, found);
  for (const [oldest, { url, bytes: size }] of pictures) {
    if ((pictures.size <= KEPT && kept <= KEPT_BYTES) || !url || oldest === path) break;
    pictures.delete(oldest);
    kept -= size;
    // What is on screen stays there; a copy of it that is drawn later is fetched again.
    URL.revokeObjectURL(url);
  }
  return found.wanted;
}

/** @param {string} path */
function fetched(path) {
  /** @type {{wanted: Promise<string>, url: string, bytes: number}} */
  const one = { wanted: Promise.resolve(""), url: "", bytes: 0 };
  one.wanted = bytes(path).then(({ bytes: data, headers }) => {
    one.url = URL.createObjectURL(new Blob([data], { type: headers.get("content-type") ?? "" }));
    one.bytes = data.byteLength;
    kept += one.bytes;
    return one.url;
  });
  // One that failed is fetched again when it is wanted again.
  one.wanted.catch(() => pictures.delete(path));
  return one;
}
