// Which items are on the screens of this browser. Tabs of one browser are one person, and the server gives a person what they
// have already; so the tabs must tell each other. Each holds a lock for every item it has: others see it at once, and it is gone
// when the tab is, however that ends.

import { line } from "./session.js";

const ITEM = () => `dial-item ${line()} `;

/** @type {Map<string, (nothing: null) => void>} */
const held = new Map();

/** Asks for items while no other tab does. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
export async function inTurn(work) {
  return navigator.locks ? navigator.locks.request(`dial-next ${line()}`, work) : work();
}

/** The items that tabs of this browser have, this one included. @returns {Promise<string[]>} */
export async function onScreens() {
  const found = (await navigator.locks?.query())?.held ?? [];
  return found.map((lock) => lock.name ?? "").filter((name) => name.startsWith(ITEM())).map((name) => name.slice(ITEM().length));
}

/** Says that this tab has an item now. @param {string} id @returns {Promise<void>} When the others can see it. */
export function hold(id) {
  return new Promise((resolve) => {
    if (held.has(id) || !navigator.locks) return resolve();
    navigator.locks.request(ITEM() + id, { ifAvailable: true }, (lock) => {
      resolve();
      return lock ? new Promise((end) => { held.set(id, end); }) : null;
    }).catch(() => resolve());
  });
}

/** @param {string} id An item that this tab has no more. */
export function release(id) {
  held.get(id)?.(null);
  held.delete(id);
}
