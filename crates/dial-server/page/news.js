// News from the server, over one connection for all tabs of a browser: browsers allow six to a server, and a stream takes one
// for good.
//
//   the tab that holds the lock -> stream of events -> BroadcastChannel -> the other tabs
//
// When that tab closes or crashes, the lock goes to another one. A browser without locks gives every tab a stream.

import { events } from "./api.js";
import { line } from "./session.js";

/** @typedef {"log"|"model"|"map"|"open"|"lost"|"hello"} Said */

/** Of one project: a browser may have pages of another one, which was served at this address before. */
const NAME = () => `dial-line ${line()}`;

/**
 * Listens for as long as the page lives.
 * @param {(what: "log"|"model"|"map"|"open"|"lost") => void} heard `open` and `lost` are about the line itself.
 */
export function listen(heard) {
  const others = new BroadcastChannel(NAME());
  let leads = false;
  let open = true;
  const say = (/** @type {"log"|"model"|"map"|"open"|"lost"} */ what) => {
    if (what === "open" || what === "lost") open = what === "open";
    others.postMessage(what);
    heard(what);
  };
  others.addEventListener("message", ({ data }) => {
    // One that has just come asks how the line is.
    if (data === "hello") { if (leads) others.postMessage(open ? "open" : "lost"); } else heard(data);
  });
  const lead = () => {
    leads = true;
    stream(say);
    return new Promise(() => {});
  };
  if (!navigator.locks) { lead(); return; }
  others.postMessage("hello");
  navigator.locks.request(NAME(), lead).catch(lead);
}

/** @param {(what: "log"|"model"|"map"|"open"|"lost") => void} say */
async function stream(say) {
  for (;;) {
    try {
      await events("changes", () => say("open"), (what) => { if (what === "log" || what === "model" || what === "map") say(what); });
    } catch {
      // Not there, not ours, or signed out: what waits says which.
    }
    say("lost");
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}
