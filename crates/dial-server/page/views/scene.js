// Scene: the pixels of a hyperspectral pool where they are, in false colours, with what is believed laid over them.

import * as api from "../api.js";
import { colourOf, hues, readBeliefs, shareKnown } from "../beliefs.js";
import { curve } from "../chart.js";
import { drawLegend } from "../classes.js";
import { calmly, draw as svg, fill, make } from "../dom.js";
import { Panel } from "../panel.js";
import { picture } from "../pictures.js";
import { shared } from "../state.js";
import { T } from "../strings.js";

/** @returns {import("../types.js").View} */
export function sceneView() {
  const image = make("img", { class: "base", alt: T.sceneTitle, draggable: false });
  const canvas = make("canvas", { class: "overlay", tabIndex: 0, aria: { label: T.sceneTitle } });
  const mark = svg("svg", { class: "over", "aria-hidden": "true" });
  const frame = make("div", { class: "scene-frame" }, image, canvas, mark);
  const spectrum = make("div", { class: "scene-spectrum card pad" });
  const tools = make("div", { class: "row tools" });
  const legend = make("ul", { class: "legend", tabIndex: 0, aria: { label: T.legend } });
  const panel = new Panel(() => drawMark());
  const element = make("div", { class: "view scene-view wide" }, make("div", { class: "scene-main" }, tools, frame, make("div", { class: "scene-side" }, spectrum, legend)), panel.element);

  /** @type {import("../types.js").SceneInfo|null} */
  let scene = null;
  /** @type {Int32Array} The row of every pixel, -1 where there is no item. */
  let rows = new Int32Array(0);
  /** @type {Uint32Array} */
  let pixels = new Uint32Array(0);
  /** @type {import("../beliefs.js").Beliefs|null} */
  let beliefs = null;
  let overlay = "classes";
  let opacity = 1;
  /** @type {number[]|null} Bands for red, green, blue; none for principal components. */
  let bands = null;
  /** The picture that was asked for last. */
  let wanted = "";
  let shown = false;

  const start = async () => {
    try {
      const found = await api.get("scene");
      scene = found;
      pixels = new Uint32Array((await api.bytes("scene/pixels")).bytes);
      rows = new Int32Array(found.height * found.width).fill(-1);
      pixels.forEach((pixel, row) => { rows[pixel] = row; });
      canvas.width = found.width;
      canvas.height = found.height;
      frame.style.setProperty("--ratio", String(found.width / found.height));
      mark.setAttribute("viewBox", `0 0 ${found.width} ${found.height}`);
      drawTools();
      drawImage();
      read();
    } catch (error) {
      fill(element, make("div", { class: "empty" }, make("h2", {}, T.broken), make("p", {}, /** @type {Error} */ (error).message)));
    }
  };

  const drawImage = () => {
    const path = api.withQuery("scene/image", bands ? { red: bands[0], green: bands[1], blue: bands[2] } : {});
    wanted = path;
    // Of several that are asked for in a row, the last counts.
    picture(path).then((url) => { if (wanted === path) Object.assign(image, { src: url }).dataset.path = path; }, () => {});
  };

  const named = (/** @type {number} */ band) => (scene?.wavelengths.length ? `${Math.round(scene.wavelengths[band])} ${scene.unit}` : `${T.band} ${band}`);

  const drawTools = () => {
    if (!scene) return;
    const last = scene.bands - 1;
    const mode = make("select", { aria: { label: T.bands }, on: { change: () => {
      bands = mode.value === "pca" ? null : [Math.round(0.7 * last), Math.round(0.4 * last), Math.round(0.15 * last)];
      drawTools();
      drawImage();
    } } }, make("option", { value: "pca", selected: !bands }, T.bandsPca), make("option", { value: "bands", selected: !!bands }, T.band));
    const slider = (/** @type {number} */ i, /** @type {string} */ words) => {
      const input = make("input", { type: "range", min: "0", max: String(last), value: String(bands?.[i] ?? 0), aria: { label: words }, on: { change: () => { if (bands) { bands[i] = Number(input.value); drawTools(); drawImage(); } } } });
      return make("label", { class: "field" }, words, input, make("span", {}, named(bands?.[i] ?? 0)));
    };
    const choice = (/** @type {keyof typeof T.overlays} */ which) => make("button", { type: "button", aria: { pressed: overlay === which }, on: { click: () => { overlay = which; drawTools(); paint(); } } }, T.overlays[which]);
    const strength = make("input", { type: "range", min: "0", max: "1", step: "0.05", value: String(opacity), aria: { label: T.strength }, on: { input: () => { opacity = Number(strength.value); paint(); } } });
    fill(tools, make("label", { class: "field" }, T.bands, mode), bands && slider(0, T.red), bands && slider(1, T.green), bands && slider(2, T.blue),
      make("div", { class: "segments", role: "group", aria: { label: T.overlay } }, choice("none"), choice("classes"), choice("doubt")), make("label", { class: "field" }, T.strength, strength));
  };

  const read = calmly(async () => {
    if (!shown || !scene) return;
    const found = await readBeliefs().catch(() => null);
    // Answers may overtake each other.
    if (found && found.version >= (beliefs?.version ?? 0)) beliefs = found;
    paint();
  }, 300);

  const paint = () => {
    legend.hidden = overlay !== "classes";
    drawLegend(legend);
    const context = canvas.getContext("2d");
    if (!scene || !context) return;
    const data = context.createImageData(scene.width, scene.height);
    let covered = false;
    if (beliefs && overlay !== "none") {
      const { width } = scene;
      const [all, known, by] = [beliefs, hues(), overlay === "doubt" ? "doubt" : "class"];
      const shapes = new Map(shared.project.classes.map((one) => [one.id, one.shape]));
      pixels.forEach((pixel, row) => {
        // Nothing lies over a pixel that no label says anything about.
        const share = shareKnown(all, row);
        const colour = share > 0 && colourOf(all, row, /** @type {"class"|"doubt"} */ (by), known);
        if (!colour) return;
        covered = true;
        const dimmed = by === "class" && hatched(shapes.get(all.classes[row]) ?? 0, pixel % width, Math.floor(pixel / width)) ? 0.55 : 1;
        data.data.set([dimmed * colour[0], dimmed * colour[1], dimmed * colour[2], all.marks[row] & 1 ? 255 : Math.round(255 * opacity * share)], 4 * pixel);
      });
    }
    context.putImageData(data, 0, 0);
    frame.classList.toggle("overlaid", covered);
  };

  const drawMark = () => {
    if (!scene) return;
    const width = scene.width;
    fill(mark, panel.rows.slice(0, 1).map((row) => svg("rect", { x: (pixels[row] % width) - 1, y: Math.floor(pixels[row] / width) - 1, width: 3, height: 3, class: "chosen" })));
  };

  const rowAt = (/** @type {MouseEvent} */ event) => {
    if (!scene) return -1;
    const box = canvas.getBoundingClientRect();
    const [x, y] = [Math.floor(((event.clientX - box.left) / box.width) * scene.width), Math.floor(((event.clientY - box.top) / box.height) * scene.height)];
    return x >= 0 && y >= 0 && x < scene.width && y < scene.height ? rows[y * scene.width + x] : -1;
  };

  let turnOf = 0;
  const showSpectrum = async (/** @type {number} */ row) => {
    const own = ++turnOf;
    if (row < 0) return fill(spectrum, make("p", { class: "soft" }, T.noPixel));
    await new Promise((resolve) => setTimeout(resolve, 40));
    if (own !== turnOf) return;
    const card = await api.get("item", { row }).catch(() => null);
    if (card?.show.kind !== "spectrum" || own !== turnOf) return;
    const { values, wavelengths, unit, row: line, column } = card.show;
    const marks = (bands ?? []).map((at, i) => ({ at, colour: ["#d55e00", "#009e73", "#0072b2"][i] }));
    fill(spectrum, make("p", { class: "soft small" }, T.pixel(line, column)), curve(values, { x: wavelengths, unit, height: 300, marks }));
  };

  let cursor = 0;
  canvas.addEventListener("keydown", (event) => {
    if (!scene) return;
    const step = event.shiftKey ? undefined : { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -scene.width, ArrowDown: scene.width }[event.key];
    if (step !== undefined) {
      cursor = Math.min(rows.length - 1, Math.max(0, (cursor || pixels[0] || 0) + step));
      showSpectrum(rows[cursor]);
      fill(mark, svg("rect", { x: (cursor % scene.width) - 1, y: Math.floor(cursor / scene.width) - 1, width: 3, height: 3, class: "chosen" }));
      event.preventDefault();
    } else if (event.key === "Enter" && rows[cursor] >= 0) {
      panel.choose([rows[cursor]]);
      event.preventDefault();
    }
  });
  canvas.addEventListener("pointermove", (event) => { showSpectrum(rowAt(event)); });
  canvas.addEventListener("click", (event) => {
    const row = rowAt(event);
    panel.choose(row >= 0 ? [row] : []);
  });
  fill(spectrum, make("p", { class: "soft" }, T.sceneHow));

  return {
    element,
    show: () => { shown = true; if (scene) read(); else start(); },
    hide: () => { shown = false; },
    key: (event) => panel.key(event),
    changed: (what) => {
      if (!shown) return;
      if (what === "project") paint(); else if (what !== "map") read();
    },
  };
}

/** Whether a pixel is dark in the pattern of a class: none, rows, columns, slopes, and the same wider. @param {number} shape @param {number} x @param {number} y */
function hatched(shape, x, y) {
  const lines = [0, y, x, x + y, x - y];
  if (shape === 0) return false;
  const step = shape > 4 ? 4 : 2;
  const line = lines[shape > 4 ? shape - 4 : shape];
  return ((line % (2 * step)) + 2 * step) % (2 * step) < step;
}
