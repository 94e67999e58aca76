// News from the server, over one connection for all tabs of a browser: browsers allow six to a server, and a stream takes one
// for good.
//
//   the tab that holds the lock -> EventSource -> BroadcastChannel -> the other tabs
//
// When that tab closes or crashes, the lock goes to another one. A browser without locks gives every tab a stream.

/** @typedef {"log"|"model"|"map"|"open"|"lost"|"hello"} Said */

const NAME = "dial-line";

/**
 * Listens for as long as the page lives.
 * @param {(what: "log"|"model"|"map"|"open"|"lost") => void} heard `open` and `lost` are about the line itself.
 */
export function listen(heard) {
  const others = new BroadcastChannel(NAME);
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
  navigator.locks.request(NAME, lead).catch(lead);
}

/** @param {(what: "log"|"model"|"map"|"open"|"lost") => void} say */
function stream(say) {
  const source = new EventSource("/api/v1/changes");
  source.addEventListener("open", () => say("open"));
  for (const what of /** @type {const} */ (["log", "model", "map"])) source.addEventListener(what, () => say(what));
  source.addEventListener("error", () => {
    say("lost");
    // A browser gives up after an answer that is no stream (signed out, restarted): then we try again.
    if (source.readyState === EventSource.CLOSED) setTimeout(stream, 2000, say);
  });
}
