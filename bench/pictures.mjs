// Makes every picture of the documents again, and every view of the page to look at.
//
//   node bench/pictures.mjs PATH_OF_DIAL [FOLDER [NAME]]      NAME: only this picture
//
// Each view of the page is drawn light and dark, on a laptop and on a phone, into FOLDER (default: target/pictures), with the
// curves of `dial demo` and the figures of the examples of the Python package, for which PYTHON names a python that has it.
// Those that a document shows are copied to docs/images; what no command here made is told, and the script fails.
//
// However busy the machine is, a picture waits for what it shows. What fails is tried again in another browser, because the
// drawing process of one may hang; what fails twice is told at the end, and the other pictures are made all the same.
//
// The data are the built-in digits and scene, and photos that a canvas draws at the shapes of cameras. Uses the tests' harness
// (npm install in crates/dial-server/tests/page).

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { browserOf, dial, folder, pixelAt, renew, run, serve, until } from "../crates/dial-server/tests/page/harness.mjs";

const root = new URL("..", import.meta.url).pathname;
const out = path.resolve(process.argv[3] ?? path.join(root, "target/pictures"));
fs.mkdirSync(out, { recursive: true });
const place = folder();

const SCREENS = { laptop: { width: 1280, height: 760 }, phone: { width: 390, height: 844 } };
/** Whether one of these pictures is wanted. */
const wants = (...names) => !process.argv[4] || names.includes(process.argv[4]);
/** Milliseconds that a picture waits at most for what it shows. */
const PATIENCE = 120000;
/** Milliseconds that the pictures of a project take at most. */
const LIMIT = 1800000;
/** Pictures that could not be made, and why. @type {string[]} */
const failed = [];

/** Makes some pictures, unless others are wanted. What goes wrong keeps nothing else from being made. */
async function part(names, work) {
  if (!wants(...names)) return;
  for (let tries = 2; ; tries--) {
    try {
      return await Promise.race([work(), new Promise((_, reject) => { setTimeout(() => reject(new Error("it hangs")), LIMIT); })]);
    } catch (error) {
      await renew();
      if (tries > 1) continue;
      failed.push(`${names.join(", ")}: ${error.stack}`);
      return;
    }
  }
}

/** Who labels, here and in the browsers that look on. */
const ANN = "ann";

/** The pictures that a document shows. */
const SHOWN = new Set(["README.md", ...fs.readdirSync(path.join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)]
  .flatMap((name) => [...fs.readFileSync(path.join(root, name), "utf8").matchAll(/images\/([\w-]+\.png)/g)].map((found) => found[1])));
/** Those that were made. */
const made = new Set();

/** Takes a picture over if a document shows it. @param {string} file @param {string} name */
function keep(file, name) {
  console.log(file);
  if (!SHOWN.has(name)) return;
  fs.copyFileSync(file, path.join(root, "docs/images", name));
  made.add(name);
}

let keys = 0;
const project = (name, ...args) => {
  const made = path.join(fs.mkdtempSync(path.join(place, "project-")), `${name}.dial`);
  run("new", ...args, "--project", made);
  return made;
};
const followed = (server) => until("the model follows", async () => { const now = await server.get("project"); return now.model_ready && now.model_version === now.version; }, PATIENCE);

/** Answers so many questions of a server by what is true, each when the model knows the one before; what nobody knows is passed over. */
async function teach(server, count, truth) {
  const { classes } = await server.get("project");
  const except = [];
  for (let given = 0; given < count;) {
    const [item] = (await server.post("next", { annotator: ANN, except })).items;
    if (!item) throw new Error(`${given} of ${count} answers, and nothing left to ask`);
    const known = classes.find((one) => one.name === truth(item.id));
    if (!known) { except.push(item.id); continue; }
    await server.post("decisions", { key: `pictures ${keys++}`, annotator: ANN, decisions: [{ kind: "label", item: item.id, classes: [{ class: known.id }] }] });
    given += 1;
    if (given > 1) await until("the model follows", async () => { const now = await server.get("project"); return now.model_version === now.version; }, PATIENCE);
  }
  await followed(server);
}

/** The labels that a built-in pool has. */
function truthOf(pool) {
  const file = path.join(place, `truth-${keys++}.jsonl`);
  run("export", project(`truth-${keys++}`, pool, "--with-labels"), "--labels-only", "--out", file);
  const rows = fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const known = new Map(rows.map((row) => [row.id, row.label]));
  return (id) => known.get(id);
}

/** What the photos are of. Some have much in common: a harbour has the houses of a town at the sea of a beach. */
const KINDS = ["beach", "forest", "town", "harbour", "park"];

/** Photos at the shapes of cameras and phones. */
async function photos(count) {
  const pool = path.join(place, "holiday");
  fs.mkdirSync(pool, { recursive: true });
  const page = await (await browserOf()).newPage();
  for (let i = 0; i < count; i++) {
    const [width, height] = [[1600, 1200], [1200, 1600], [1800, 1200], [2400, 900]][i % 4];
    const kind = KINDS[i % KINDS.length];
    const data = await page.evaluate(([w, h, what, seed]) => {
      let state = seed * 7919 + 17;
      const random = () => { state = (state * 48271) % 2147483647; return state / 2147483647; };
      const canvas = Object.assign(document.createElement("canvas"), { width: w, height: h });
      const draw = canvas.getContext("2d");
      const fill = (from, to, colours) => {
        const ramp = draw.createLinearGradient(0, from, 0, to);
        colours.forEach((colour, at) => ramp.addColorStop(at / (colours.length - 1), colour));
        draw.fillStyle = ramp;
        draw.fillRect(0, from, w, to - from);
      };
      const hue = 195 + 25 * random();
      const ground = h * (0.45 + 0.15 * random());
      fill(0, ground, [`hsl(${hue} 65% ${52 + 12 * random()}%)`, `hsl(${hue - 10} 60% 88%)`]);
      for (let cloud = 0; cloud < 4; cloud++) {
        const [x, y] = [w * random(), ground * 0.6 * random()];
        draw.fillStyle = "rgba(255 255 255 / .55)";
        for (let puff = 0; puff < 6; puff++) { draw.beginPath(); draw.ellipse(x + puff * w / 40, y + h / 80 * random(), w / 25, h / 45, 0, 0, 7); draw.fill(); }
      }
      if (what === "beach" || what === "harbour") {
        fill(ground, ground + (h - ground) * 0.45, [`hsl(${hue} 60% 42%)`, `hsl(${hue - 25} 55% 60%)`]);
        fill(ground + (h - ground) * 0.45, h, what === "beach" ? ["#e8d6a8", "#cfae72"] : [`hsl(${hue - 25} 55% 55%)`, `hsl(${hue} 50% 34%)`]);
        for (let wave = 0; wave < 12; wave++) {
          draw.strokeStyle = `rgba(255 255 255 / ${0.15 + 0.25 * random()})`;
          draw.lineWidth = h / 300;
          draw.beginPath();
          const y = ground + (h - ground) * 0.45 * random();
          for (let x = 0; x <= w; x += w / 60) draw.lineTo(x, y + Math.sin(x / w * 30 + wave) * h / 200);
          draw.stroke();
        }
      }
      if (what === "forest" || what === "park") {
        fill(ground, h, what === "forest" ? ["#55743a", "#2c4021"] : ["#86a950", "#5c8a35"]);
        const trees = what === "forest" ? 90 : 14 + 12 * random();
        for (let tree = 0; tree < trees; tree++) {
          const far = tree / trees;
          const [x, base, size] = [w * random(), ground + (h - ground) * far * 0.9, h * (0.12 + 0.3 * far)];
          draw.fillStyle = `hsl(${105 + 30 * random()} ${30 + 20 * random()}% ${34 - 14 * far + 8 * random()}%)`;
          for (let layer = 0; layer < 4; layer++) {
            const [top, half] = [base - size * (0.35 + 0.2 * layer), size * (0.22 - 0.045 * layer)];
            draw.beginPath(); draw.moveTo(x, top - size * 0.22); draw.lineTo(x - half, top + size * 0.12); draw.lineTo(x + half, top + size * 0.12); draw.fill();
          }
        }
      }
      if (what === "town" || what === "harbour") {
        if (what === "town") fill(ground, h, ["#8d8a86", "#5d5b58"]);
        const houses = what === "town" ? 26 : 17;
        for (let house = 0; house < houses; house++) {
          const [x, wide, tall] = [w * (house / 26 - 0.02), w / 24 * (1 + 0.6 * random()), h * (0.12 + 0.3 * random())];
          const top = ground + h * 0.12 - tall;
          draw.fillStyle = `hsl(${[18, 32, 42, 210][house % 4]} ${15 + 35 * random()}% ${48 + 26 * random()}%)`;
          draw.fillRect(x, top, wide, tall + h * 0.06);
          draw.fillStyle = "#7a3b2c";
          draw.beginPath(); draw.moveTo(x, top); draw.lineTo(x + wide / 2, top - tall * 0.16); draw.lineTo(x + wide, top); draw.fill();
          for (let row = 0; row < 5; row++) for (let at = 0; at < 3; at++) {
            draw.fillStyle = random() < 0.3 ? "#f3dc9a" : "#34404c";
            draw.fillRect(x + wide * (0.16 + 0.27 * at), top + tall * (0.12 + 0.18 * row), wide * 0.14, tall * 0.09);
          }
        }
      }
      const grain = draw.getImageData(0, 0, w, h);
      for (let at = 0; at < grain.data.length; at += 4) { const noise = 14 * (random() - 0.5); for (let c = 0; c < 3; c++) grain.data[at + c] += noise; }
      draw.putImageData(grain, 0, 0);
      return canvas.toDataURL("image/jpeg", 0.86).split(",")[1];
    }, [width, height, kind, i + 1]);
    fs.writeFileSync(path.join(pool, `IMG_${2000 + i}.jpg`), Buffer.from(data, "base64"));
  }
  await page.context().close();
  return { pool, truth: (id) => KINDS[(Number(id.match(/(\d+)\.jpg/)[1]) - 2000) % KINDS.length] };
}

/** Answers some questions on the page by key, so that the last answers are there, and what each answer to the next would change. */
const answers = (count, truth) => async (page) => {
  const asked = () => page.locator(".item > footer bdi").first().textContent();
  const told = () => page.locator(".class .effect").evaluateAll((all) => all.some((one) => one.textContent));
  for (let step = 0; step < count + 8; step++) {
    // It is known of the question that the model would ask first, a moment after it is asked.
    if (step >= count && await until("what answers would change", told, 10000).catch(() => false)) break;
    const id = await asked();
    const known = page.locator(".class").filter({ has: page.locator(`bdi:text-is("${truth(id)}")`) });
    await page.keyboard.press(await known.locator("kbd").textContent());
    await until("the next item", async () => (await asked()) !== id, PATIENCE);
    await page.waitForTimeout(400);
  }
  await page.waitForSelector(".item:not(.leaving) img, .item:not(.leaving) .chart");
};

/** A window as high as all that is in it. */
const whole = async (page) => {
  const { width } = page.viewportSize();
  const height = await page.evaluate(() => document.querySelector("#header").offsetHeight + document.querySelector("main").scrollHeight);
  await page.setViewportSize({ width, height: Math.min(height, 2200) });
  await page.waitForTimeout(400);
};

/** Points at a pixel near the middle that is an item, and waits for its spectrum. */
const point = async (page) => {
  await page.waitForSelector(".scene-frame.overlaid");
  await page.mouse.move(...await pixelAt(page, 0.45, 0.5));
  await page.waitForSelector(".scene-spectrum .chart");
};

/** Waits until the points of the map are where they stay; a phone has no room to say so. */
const settled = (page) => until("a map at rest", async () => (await page.textContent(".note")).includes("neighbours stay together"), PATIENCE);

/** Waits until every picture in sight is drawn. */
const drawn = (page) => until("the pictures", () => page.evaluate(() => !document.querySelector(".item.leaving") && [...document.querySelectorAll("main img")].every((one) => one.complete && one.naturalWidth)), PATIENCE);

/** Draws views of a server in both themes and on both screens; each is a name and what leads there. */
async function shoot(server, views) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [screen, viewport] of Object.entries(SCREENS)) {
      const context = await browserOf({ colorScheme, viewport });
      context.setDefaultTimeout(PATIENCE);
      await context.addInitScript((name) => localStorage.setItem("dial-annotator", name), ANN);
      const page = await context.newPage();
      await page.goto(await server.post("launch", {}));
      await page.waitForSelector("#tabs a");
      for (const [name, hash, selector, lead] of views.filter(([one]) => wants(one))) {
        await page.setViewportSize(viewport);
        await page.evaluate((where) => { location.hash = where; }, `#${hash}`);
        await page.waitForSelector(selector);
        await lead?.(page);
        await drawn(page);
        await page.waitForTimeout(1500);
        const file = path.join(out, `${name}-${colorScheme}-${screen}.png`);
        await page.screenshot({ path: file });
        if (colorScheme === "light" && screen === "laptop") keep(file, `${name}.png`); else console.log(file);
      }
      await context.close();
    }
  }
  await server.stop();
}

await part(["label", "map", "bulk", "review", "progress", "export"], async () => {
  const digits = await serve(project("digits", "builtin:digits:2000"));
  const isDigit = truthOf("builtin:digits:2000");
  await teach(digits, 60, isDigit);
  await shoot(digits, [["label", "label", ".item img", answers(8, isDigit)], ["map", "map", "canvas.map[data-version]", settled], ["bulk", "bulk", ".tile"],
    ["review", "review", ".review, .doubt, .empty"], ["progress", "progress", ".charts .chart", whole], ["export", "export", ".export-view td"]]);
});

await part(["scene"], async () => {
  const field = await serve(project("scene", "builtin:scene:2500"));
  await teach(field, 40, truthOf("builtin:scene:2500"));
  await shoot(field, [["scene", "scene", ".scene-main canvas", point]]);
});

await part(["photos", "photos-bulk"], async () => {
  const taken = await photos(60);
  const holiday = await serve(project("holiday", taken.pool, "--classes", KINDS.join(",")));
  await teach(holiday, 7, taken.truth);
  await shoot(holiday, [["photos", "label", ".item img", answers(4, taken.truth)], ["photos-bulk", "bulk", ".tile, .empty"]]);
});

await part(["demo"], async () => {
  const tour = path.join(place, "tour");
  execFileSync(dial, ["demo", "--out", tour, "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
  fs.copyFileSync(path.join(tour, "curves.png"), path.join(out, "demo.png"));
  keep(path.join(out, "demo.png"), "demo.png");
});

if (process.env.PYTHON) {
  const examples = path.join(root, "python/examples");
  for (const name of fs.readdirSync(examples)) {
    const figure = /^\d.*\.py$/.test(name) && fs.readFileSync(path.join(examples, name), "utf8").match(/keep\(figure, "([\w-]+)"\)/)?.[1];
    const picture = `python-${figure}.png`;
    if (!SHOWN.has(picture)) continue;
    await part(["python"], async () => {
      execFileSync(process.env.PYTHON, [name], { cwd: examples, env: { ...process.env, DIAL_FIGURES: out }, stdio: ["ignore", "ignore", "inherit"] });
      keep(path.join(out, picture), picture);
    });
  }
}

const lacking = process.argv[4] ? [] : [...SHOWN].filter((name) => !made.has(name));
for (const one of failed) console.error(`failed: ${one}`);
if (lacking.length) console.error(`not made: ${lacking.join(", ")}${process.env.PYTHON ? "" : " (set PYTHON to a python with this package for those of python/examples)"}`);
process.exit(failed.length || lacking.length ? 1 : 0);
