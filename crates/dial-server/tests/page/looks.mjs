// How the page looks and whether everybody can use it: every view, dialog and trouble, light and dark, wide and on a phone.
// With DIAL_SCREENSHOTS=folder each is drawn there, in all four ways; without, axe looks at two of them.

import fs from "node:fs";
import path from "node:path";
import { equal, folder, hold, open, overflow, run, serve, test, until } from "./harness.mjs";

const place = folder();
const axe = fs.readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const out = process.env.DIAL_SCREENSHOTS;
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const ways = [["light", wide], ["dark", phone], ...(out ? [["dark", wide], ["light", phone]] : [])];

/** A project, made anew. */
function project(name, ...args) {
  const made = path.join(place, `${name}.dial`);
  run("new", ...args, "--project", made);
  return made;
}

/** A pool of texts about four things. */
function notes() {
  const topics = { sport: "match goal team score league coach", food: "recipe oven butter taste sauce dinner", space: "orbit rocket planet telescope launch moon", law: "court judge appeal verdict trial lawyer" };
  const text = (i, words) => Array.from({ length: 12 + (i % 17) }, (_, k) => words[(i * 7 + k * k + k) % words.length]).join(" ");
  const rows = Array.from({ length: 120 }, (_, i) => {
    const [topic, words] = Object.entries(topics)[i % 4];
    return { id: `note-${i}`, text: `${text(i, `${words} the of a and with after early`.split(" "))}.`, source: ["paper", "radio"][i % 2], topic };
  });
  const file = path.join(place, "notes.jsonl");
  fs.writeFileSync(file, rows.map(({ id, text: words, source }) => JSON.stringify({ id, text: words, source })).join("\n"));
  return { file, truth: new Map(rows.map((row) => [row.id, row.topic])) };
}

/** A table of three kinds. */
function table(n) {
  const file = path.join(place, `table-${n}.csv`);
  const row = (i) => [5 + (i % 3) * 0.8 + (i % 7) / 7, 3.2 - (i % 3) * 0.2 + (i % 5) / 9, 1.5 + (i % 3) * 2 + (i % 4) / 4].map((x) => x.toFixed(2)).join(",");
  fs.writeFileSync(file, `length,width,height\n${Array.from({ length: n }, (_, i) => row(i)).join("\n")}\n`);
  return { file, truth: new Map(Array.from({ length: n }, (_, i) => [String(i), ["small", "middle", "large"][i % 3]])) };
}

/** Answers so many questions; `class_` says which class an item has. */
async function teach(server, count, class_) {
  const { classes } = await server.get("project");
  for (let step = 0; step < count; step++) {
    const [item] = (await server.post("next", {})).items;
    if (!item) return;
    const known = classes.find((one) => one.name === class_(item.id)) ?? classes[item.row % classes.length];
    await server.post("decisions", { key: `${step} ${item.id}`, decisions: [{ kind: "label", item: item.id, classes: [{ class: known.id }] }] });
  }
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_version === now.version; });
}

/** Shows each state of a project in each way; `states` are pairs of a name and what leads there. */
async function look(server, states, findings) {
  for (const [colorScheme, viewport] of ways) {
    const page = await open({ ...server, link: await server.post("launch", {}) }, { colorScheme, viewport, bypassCSP: true });
    for (const [name, lead] of states) {
      await lead(page);
      findings.push(...await inspect(page, name, colorScheme, viewport.width));
    }
    equal(page.trouble, [], "no error");
    await page.context().close();
  }
}

/** Draws a state if wanted, and says what axe finds serious. */
async function inspect(page, name, scheme, width) {
  await page.waitForTimeout(out ? 700 : 300);
  if (out) await page.screenshot({ path: path.join(out, `${name}-${scheme}-${width}.png`) });
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  hold(await overflow(page) <= 1, `${name} is wider than a screen of ${width}`);
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return serious.map((one) => `${name}, ${scheme}, ${width}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

const to = (view, wait) => async (page) => {
  await page.evaluate((hash) => { location.hash = hash; }, `#${view}`);
  if (wait) await page.waitForSelector(wait);
};
const escape = (page) => page.keyboard.press("Escape");

test("looks: digits, in every view and with every dialog", async () => {
  const server = await serve(project("look", "builtin:digits:300"));
  const names = path.join(place, "names.jsonl");
  run("export", project("look-truth", "builtin:digits:300", "--with-labels"), "--labels-only", "--out", names, "--format", "jsonl");
  const truth = new Map(fs.readFileSync(names, "utf8").trim().split("\n").map((line) => JSON.parse(line)).map((row) => [row.id, row.label]));
  await teach(server, 40, (id) => truth.get(id));
  const wrong = (await server.get("items?open=true&order=certain&limit=1")).rows[0];
  await server.post("decisions", { key: "wrong", decisions: [{ kind: "label", item: wrong.id, classes: [{ class: (wrong.belief.class + 1) % 10 }] }] });
  // One answer contradicts another, unsurely: it is stored as a conflict.
  const again = { kind: "label", item: wrong.id, classes: [{ class: 3, weight: 0.5 }, { class: 8, weight: 0.5 }] };
  await server.post("decisions", { key: "again", decisions: [again] }).catch(() => {});
  await until("a suspect", async () => (await server.get("suspects")).total > 0);
  const findings = [];
  await look(server, [
    ["label", to("label", ".item img")],
    ["label-unsure", async (page) => { await page.keyboard.press("Enter"); await page.keyboard.press("3"); await page.keyboard.press("8"); }],
    ["keys", async (page) => { await page.keyboard.press("Enter").catch(() => {}); await page.click("#help"); }],
    ["name", async (page) => { await escape(page); await page.click("#person"); }],
    ["classes", async (page) => { await escape(page); await page.click("text=Edit classes"); }],
    ["classes-refused", async (page) => { await page.fill("dialog td input[aria-label='Name'] >> nth=0", "7"); await page.keyboard.press("Tab"); await page.waitForSelector(".toast button"); }],
    ["map", async (page) => { await page.click(".toast button >> text=Later"); await escape(page); await to("map", "canvas.map[data-version]")(page); }],
    ["map-panel", async (page) => { await page.focus("canvas.map"); await page.keyboard.press("Enter"); await page.waitForSelector(".panel .class"); }],
    ["map-many", async (page) => { await page.focus("canvas.map"); await page.keyboard.press("Shift+Enter"); await until("many", async () => (await page.textContent(".panel h2")).includes("chosen")); }],
    ["bulk", to("bulk", ".tile")],
    ["review", to("review", ".doubt .class")],
    ["review-conflicts", async (page) => { await page.click("role=tab[name=/Conflicts/]"); await page.waitForSelector(".conflicts li"); }],
    ["review-history", async (page) => { await page.click("role=tab[name=History]"); await page.waitForSelector(".history"); }],
    ["progress", to("progress", ".charts .chart")],
    ["export", to("export", ".export-view td")],
  ], findings);
  equal(findings, [], "serious findings");
  await server.stop();
});

test("looks: texts, tables, a scene, and forty classes", async () => {
  const findings = [];
  const texts = notes();
  let server = await serve(project("notes", texts.file, "--classes", "sport,food,space,law"));
  await teach(server, 14, (id) => texts.truth.get(id));
  await look(server, [["text-label", to("label", ".shown.text")], ["text-map", async (page) => {
    await to("map", "canvas.map[data-version]")(page);
    await page.focus("canvas.map");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".panel .shown.text");
  }], ["text-bulk", to("bulk", ".tile")]], findings);
  await server.stop();
  const numbers = table(120);
  server = await serve(project("table", numbers.file, "--classes", "small,middle,large"));
  await teach(server, 9, (id) => numbers.truth.get(id));
  await look(server, [["table-label", to("label", ".shown.table")], ["table-bulk", to("bulk", ".tile")]], findings);
  await server.stop();
  server = await serve(project("scene", "builtin:scene"));
  await teach(server, 18, () => "");
  await look(server, [["scene-label", to("label", ".shown.spectrum .chart")], ["scene", to("scene", ".scene-frame.overlaid")], ["scene-panel", async (page) => {
    await page.focus(".scene-frame canvas");
    for (let step = 0; step < 9; step++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".panel .chart");
  }]], findings);
  await server.stop();
  const names = Array.from({ length: 40 }, (_, i) => `${["Long-tailed widowbird of the southern grasslands", "Crimson-breasted shrike", "Pied crow"][i % 3]} ${["male", "female", "young"][Math.floor(i / 3) % 3]} ${i + 1}`);
  server = await serve(project("many", "builtin:digits:200", "--classes", names.join(",")));
  await teach(server, 60, () => "");
  await look(server, [["many-label", to("label", ".item img")], ["many-find", async (page) => { await page.keyboard.press("/"); await page.keyboard.type("shrike f"); }],
    ["many-map", async (page) => { await escape(page); await to("map", "canvas.map[data-version]")(page); }], ["many-bulk", to("bulk", ".tile")]], findings);
  equal(findings, [], "serious findings");
  await server.stop();
});

test("looks: nothing yet, all done, signed out, broken, and the server gone", async () => {
  const findings = [];
  let server = await serve(project("first", table(12).file));
  await look(server, [["first-label", to("label", ".classes.none")], ["first-map", to("map", "canvas.map")], ["first-bulk", to("bulk", ".empty")], ["first-review", to("review", ".empty")],
    ["first-progress", to("progress", ".empty")], ["first-export", async (page) => {
      await to("export", ".export-view td")(page);
      hold((await page.textContent(".export-view")).includes("There are no labels yet."), "an export without labels says so");
    }]], findings);
  await server.stop();
  server = await serve(project("done", table(9).file, "--classes", "small,middle,large"));
  await teach(server, 9, (id) => table(9).truth.get(id));
  await look(server, [["done-label", to("label", ".item .empty")], ["done-bulk", to("bulk", ".empty")]], findings);
  await server.stop();
  server = await serve(project("gone", table(60).file, "--classes", "small,middle,large"));
  await teach(server, 6, (id) => table(60).truth.get(id));
  await look(server, [
    ["signed-out", async (page) => {
      await page.waitForSelector(".shown.table");
      await page.route("**/api/v1/**", (route) => route.fulfill({ status: 401, contentType: "application/problem+json", body: "{\"code\":\"C7\",\"detail\":\"sign in\"}" }));
      await page.keyboard.press("1");
      await page.waitForSelector("#banner button");
      // The item that was answered fades until another is there.
      await page.waitForSelector(".item:not(.leaving)");
    }],
    ["broken", async (page) => { await page.reload(); await page.waitForSelector("main .empty"); }],
  ], findings);
  const pages = [];
  for (const [colorScheme, viewport] of ways) pages.push([colorScheme, viewport, await open({ ...server, link: await server.post("launch", {}) }, { colorScheme, viewport, bypassCSP: true })]);
  for (const [, , page] of pages) await page.waitForSelector(".shown.table");
  for (const [, , page] of pages) equal(await page.evaluate(() => document.styleSheets.length), 2, "style sheets");
  await server.kill();
  for (const [colorScheme, viewport, page] of pages) {
    for (let step = 0; step < 5; step++) { await page.keyboard.press("1"); await page.waitForTimeout(500); }
    await page.waitForSelector("#banner button");
    findings.push(...await inspect(page, "server-gone", colorScheme, viewport.width));
    await page.context().close();
  }
  equal(findings, [], "serious findings");
});
