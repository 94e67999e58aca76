// A real server, a real browser, and a test runner of forty lines.

import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

export const dial = path.resolve(process.argv[2] ?? "target/release/dial");
const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((one) => one && fs.existsSync(one));

/** Runs a verb of dial and reads its JSON. */
export function run(...args) {
  const text = execFileSync(dial, [...args, "--quiet", "--json"], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return text.trim() ? JSON.parse(text) : null;
}

/** A folder of its own that goes away at the end. */
export function folder() {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "dial-page-"));
  process.on("exit", () => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Serves a project; `port` keeps its address over a restart. */
export async function serve(project, port = 0) {
  const child = spawn(dial, ["serve", project, "--quiet", "--json", ...(port ? ["--port", String(port)] : [])], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  const link = await new Promise((resolve, reject) => {
    child.stdout.on("data", (bytes) => {
      text += bytes;
      try { resolve(JSON.parse(text).link); } catch { /* There is more to come. */ }
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
  const url = new URL(link);
  const { token, project: id } = JSON.parse(fs.readFileSync(path.join(project, "server.json"), "utf8"));
  const ask = async (method, where, body) => {
    const answer = await fetch(`${url.origin}/api/v1/${where}`, { method, headers: { authorization: `Bearer ${token}`, "x-dial": id, "content-type": "application/json" }, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${where}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const stop = (signal) => new Promise((resolve) => { child.removeAllListeners("exit"); child.on("exit", resolve); child.kill(signal); });
  process.on("exit", () => child.kill("SIGKILL"));
  return { link, port: Number(url.port), origin: url.origin, get: (where) => ask("GET", where), post: (where, body) => ask("POST", where, body), kill: () => stop("SIGKILL"), stop: () => stop("SIGTERM") };
}

process.setMaxListeners(200);
let browser;
/** Milliseconds for what comes at once where nothing else runs: a machine may be busy, and a test that waits longer fails as surely. */
const PATIENCE = 120000;

/** Ends the browser, with all that is open in it; the next one is another. */
export async function renew() {
  const before = browser;
  browser = undefined;
  // One that hangs is left to itself.
  await Promise.race([before?.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 10000))]);
}

/** A browser that knows nothing yet. */
export async function browserOf(options = {}) {
  browser ??= await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PATIENCE);
  if (pageFolder) await context.route((url) => fs.existsSync(fileOf(url)) && fs.statSync(fileOf(url)).isFile(), fromFolder);
  return context;
}

/** Files of the page as they lie in a folder (DIAL_PAGE), in the place of those that were compiled in: for work on the page. */
const pageFolder = process.env.DIAL_PAGE;
const fileOf = (url) => path.join(path.resolve(pageFolder), url.pathname === "/" ? "index.html" : url.pathname);

async function fromFolder(route) {
  // These come over connections of their own, of which the server takes only so many at once.
  let response = null;
  for (let tries = 0; !response && tries < 4; tries++) {
    if (tries) await new Promise((resolve) => setTimeout(resolve, 150));
    response = await route.fetch({ maxRedirects: 0 }).catch(() => null);
  }
  if (!response) { await route.abort().catch(() => {}); return; }
  // Some tests put another program in the place of the server.
  if (response.ok() && !response.headers()["content-security-policy"]) { await route.fulfill({ response }); return; }
  const file = fileOf(new URL(route.request().url()));
  const type = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml" }[path.extname(file)];
  // A file that is not compiled in yet is there too.
  await route.fulfill({ response, status: 200, contentType: type, body: fs.readFileSync(file) });
}

/** A window that is signed in. Errors of the page and dialogs that a script opens are collected. */
export async function open(server, options = {}) {
  const context = await browserOf(options);
  const page = await context.newPage();
  page.trouble = [];
  watch(page);
  await page.goto(server.link);
  await page.waitForSelector("#tabs a");
  return page;
}

export function watch(page) {
  page.trouble ??= [];
  page.on("pageerror", (error) => page.trouble.push(`error: ${error.message}`));
  // A warning before leaving is counted, and not heeded.
  page.warned = 0;
  page.on("dialog", (dialog) => {
    if (dialog.type() === "beforeunload") { page.warned += 1; dialog.accept(); return; }
    page.trouble.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
}

/** Waits until something holds. */
export async function until(what, holds, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

/** The id of the item on the label view, also of one that was answered and is about to go. */
export const asked = (page) => page.locator(".item > footer bdi").first().textContent();

/** The same once it can be answered: the item before it is gone. */
export async function ready(page) {
  await page.waitForSelector(".item:not(.leaving) > footer bdi");
  return asked(page);
}

/** Waits until the page has set aside what it asks while there is no line: three items beside the one on screen. */
export const stocked = (page) => until("items are set aside", () => page.evaluate(async () => (await navigator.locks.query()).held.filter((one) => one.name.startsWith("dial-item ")).length === 4));

/** Presses keys one right after the other, with nothing in between: those of a browser that is driven from outside come when they come. */
export const atOnce = (page, ...keys) => page.evaluate((all) => {
  for (const key of all) (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, code: /^\d$/.test(key) ? `Digit${key}` : key === " " ? "Space" : key, bubbles: true, cancelable: true }));
}, keys);

/** Where on the window the pixel nearest to a place of a scene is that is an item; the place is in shares of its width and height. */
export async function pixelAt(page, x, y) {
  const place = await page.evaluate(async (wanted) => {
    const api = await import("/api.js");
    const { width, height } = await api.get("scene");
    const places = [...new Uint32Array((await api.bytes("scene/pixels")).bytes)].map((pixel) => [(pixel % width + 0.5) / width, (Math.floor(pixel / width) + 0.5) / height]);
    const far = (one) => Math.hypot(one[0] - wanted[0], one[1] - wanted[1]);
    return places.reduce((best, one) => (far(one) < far(best) ? one : best));
  }, [x, y]);
  const box = await page.locator(".scene-frame canvas").boundingBox();
  return [box.x + box.width * place[0], box.y + box.height * place[1]];
}

export function equal(found, wanted, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: ${a} is not ${b}`);
}

/** How many pixels the page is wider than its window; `main` scrolls by itself, so the document does not tell. */
export const overflow = (page) => page.evaluate(() => Math.max(...["html", "main"].map((name) => { const one = document.querySelector(name); return one.scrollWidth - one.clientWidth; })));

export function hold(condition, what) {
  if (!condition) throw new Error(what);
}

const tests = [];
export const test = (name, work) => tests.push([name, work]);

/** Runs all tests, one after another. */
export async function main() {
  const only = process.argv[3];
  const chosen = tests.filter(([name]) => !only || name.includes(only));
  let failed = 0;
  for (const [name, work] of chosen) {
    try {
      await work();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
  await browser?.close();
  console.log(`test result: ${chosen.length - failed} passed; ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
