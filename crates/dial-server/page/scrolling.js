// Reading what is longer than its place: by key from anywhere on the page, and with a sign at the edge where there is more.

import { make } from "./dom.js";
import { T } from "./strings.js";

/** A line of text, in pixels: how far an arrow goes. */
const LINE = 56;
/** Of the height of the place a page moves so much, so that the last lines are seen again. */
const PAGE = 0.88;

/** How far a key moves, from the height of the place and of what is in it. @type {Record<string, (box: Element) => number>} */
const MOVES = {
  ArrowUp: () => -LINE, ArrowDown: () => LINE, PageUp: (box) => -PAGE * box.clientHeight, PageDown: (box) => PAGE * box.clientHeight,
  Home: (box) => -box.scrollHeight, End: (box) => box.scrollHeight,
};

/** Whether there is more below, or above. @param {Element} box @param {number} way */
const more = (box, way) => (way > 0 ? box.scrollTop + box.clientHeight < box.scrollHeight - 1 : box.scrollTop > 1);

/** What is read, with a shadow at an edge beyond which there is more, and a button that goes on. @param {HTMLElement} box Scrolls. */
export function reading(box) {
  const next = make("button", { type: "button", class: "more small", hidden: true, on: { click: () => { box.scrollBy(0, MOVES.PageDown(box)); box.focus({ preventScroll: true }); } } },
    T.more, make("kbd", {}, "PageDown"));
  const place = make("div", { class: "reading" }, box, next);
  const look = () => {
    place.dataset.above = String(more(box, -1));
    place.dataset.below = String(more(box, 1));
    next.hidden = !more(box, 1);
  };
  box.classList.add("reads");
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
  return place;
}

/** Scrolls by a key what is to be read in a view, or else the page. @param {KeyboardEvent} event @param {Element} view */
export function scrolled(event, view) {
  const move = MOVES[event.key];
  if (!move || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
  const target = event.target instanceof Element ? event.target : document.body;
  // What scrolls by itself under the focus does so, and so do sliders and lists.
  if (target.closest("input, select, textarea, .scroll, .legend, .doubts")) return false;
  const reads = [...view.querySelectorAll(".reads")];
  // Whoever labels reads a text to its end, and presses once more: the page does not slide away below it.
  const ends = view.matches(".label-view") && reads.some((one) => one.scrollHeight > one.clientHeight + 1);
  const boxes = ends ? reads : [...reads, /** @type {Element} */ (view.closest("main"))];
  const box = boxes.find((one) => more(one, move(one)));
  box?.scrollBy({ top: move(box), behavior: "instant" });
  return ends || box !== undefined;
}

/** Marks what can be pushed sideways with the edges beyond which there is more. @param {HTMLElement} row */
export function sideways(row) {
  const look = () => {
    row.dataset.before = String(row.scrollLeft > 1);
    row.dataset.after = String(row.scrollLeft + row.clientWidth < row.scrollWidth - 1);
  };
  row.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(row);
  new MutationObserver(look).observe(row, { childList: true });
}
