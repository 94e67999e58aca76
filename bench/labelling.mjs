// How the labelling page feels: from a key press to the next item, and how long the map takes to draw.
//
//   node bench/labelling.mjs PATH_OF_DIAL [ITEMS ...]
//
// For each number of items: a project of planted clusters, forty answers by keyboard in Chromium, and the time from the
// key press until the next item stands in the page (p50, p95). Then the map of 200,000 points: time of a whole frame, drawn
// and read back, with software rendering where the machine has no graphics card. Then the weight of the page. Uses the
// tests' harness (npm install in crates/dial-server/tests/page).

import fs from "node:fs";
import path from "node:path";
import { folder, open, run, serve, until } from "../crates/dial-server/tests/page/harness.mjs";

const sizes = process.argv.slice(3).map(Number); // 0: only the map
const place = folder();
const asked = (page) => page.locator(".item > footer bdi").first().textContent();
const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))];

for (const items of (sizes.length ? sizes : [10000, 1000000]).filter((items) => items > 0)) {
  const pool = path.join(place, `${items}.npy`);
  run("generate", "clusters", "--items", String(items), "--dim", "32", "--out", pool);
  const project = path.join(place, `${items}.dial`);
  run("new", pool, "--classes", "north,east,south,west", "--project", project);
  const server = await serve(project);
  const page = await open(server);
  await until("the first item", async () => (await page.locator(".item > footer bdi").count()) > 0, 600000);
  await page.waitForTimeout(2000);
  // The clock is that of the page: from the key to the change of the text that names the item.
  const times = await page.evaluate(async () => {
    const label = () => document.querySelector(".item > footer bdi")?.textContent ?? "";
    const found = [];
    for (let step = 0; step < 40; step++) {
      const before = label();
      const start = performance.now();
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "1234"[step % 4], code: `Digit${(step % 4) + 1}`, bubbles: true }));
      await new Promise((resolve) => {
        const look = () => (label() !== before ? resolve(undefined) : setTimeout(look, 1));
        look();
      });
      found.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
    return found;
  });
  console.log(JSON.stringify({ items, key_to_next_ms: { p50: quantile(times, 0.5), p95: quantile(times, 0.95), worst: Math.max(...times) } }));
  await page.context().close();
  await server.stop();
}

const pool = path.join(place, "map.npy");
run("generate", "clusters", "--items", "200000", "--dim", "16", "--out", pool);
const project = path.join(place, "map.dial");
run("new", pool, "--classes", "north,east,south,west", "--project", project);
const server = await serve(project);
const page = await open(server);
await page.goto(`${server.origin}/#map`);
await until("the map", async () => (await page.getAttribute("canvas.map", "data-version")) !== null, 600000);
await until("the places", async () => (await page.textContent(".note"))?.includes("Drag"), 600000);
const frames = await page.evaluate(async () => {
  const { Points } = await import("/points.js");
  const canvas = document.createElement("canvas");
  canvas.style.width = "1200px";
  canvas.style.height = "800px";
  document.body.append(canvas);
  const points = new Points(canvas);
  const { bytes } = await (await import("/api.js")).bytes("map");
  points.setPlaces(new Float32Array(bytes));
  const n = bytes.byteLength / 8;
  points.setColours(new Uint8Array(4 * n).fill(200), new Uint8Array(n), false);
  const found = [];
  for (let i = 0; i < 20; i++) {
    points.zoom = 1 + i / 10;
    const start = performance.now();
    points.now();
    // Reading a pixel waits until everything is drawn.
    points.gl.readPixels(0, 0, 1, 1, points.gl.RGBA, points.gl.UNSIGNED_BYTE, new Uint8Array(4));
    found.push(performance.now() - start);
  }
  const info = points.gl.getExtension("WEBGL_debug_renderer_info");
  return { n, found, renderer: info ? points.gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "" };
});
console.log(JSON.stringify({ points: frames.n, frame_ms: { p50: quantile(frames.found, 0.5), p95: quantile(frames.found, 0.95) }, renderer: frames.renderer }));
await server.stop();

const files = ["", "views"].flatMap((one) => fs.readdirSync(new URL(`../crates/dial-server/page/${one}`, import.meta.url), { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name)));
console.log(JSON.stringify({ page_bytes: files.reduce((sum, file) => sum + fs.statSync(file).size, 0), files: files.length }));
process.exit(0);
