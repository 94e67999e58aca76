// Whole sessions on the labelling page, in Chromium: node page.mjs PATH_OF_DIAL [part of a name]

import fs from "node:fs";
import path from "node:path";
import { asked, atOnce, equal, folder, hold, main, open, pixelAt, ready, run, serve, stocked, test, until, watch } from "./harness.mjs";
import "./exports.mjs";
import "./keyboards.mjs";
import "./looks.mjs";
import "./lists.mjs";
import "./mends.mjs";
import "./models.mjs";
import "./photos.mjs";
import "./screens.mjs";
import "./sign_in.mjs";

const place = folder();

/** A project of drawn digits, and what they are. */
function digits(name, ...more) {
  const project = path.join(place, `${name}.dial`);
  run("new", "builtin:digits:300", "--project", project, ...more);
  return project;
}

const truth = (() => {
  let known = null;
  return () => {
    if (known) return known;
    const project = digits("truth", "--with-labels");
    const file = path.join(place, "truth.jsonl");
    run("export", project, "--labels-only", "--out", file, "--format", "jsonl");
    known = new Map(fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line)).map((row) => [row.id, row.label]));
    return known;
  };
})();

const saved = (page) => until("everything is saved", async () => (await page.getAttribute("#saved", "data-waiting")) === "0" && (await page.textContent("#saved")) === "Saved");
/** The labels that the log holds, by item. */
const labels = async (server) => {
  const page = await server.get("history?limit=1000&search=label");
  return page.rows.filter((row) => row.kind === "label").map((row) => [row.item, row.text, row.annotator]).reverse();
};
/** Labels the item on screen rightly, by its key; returns what it was. */
async function answer(page) {
  const id = await asked(page);
  await page.keyboard.press(truth().get(id));
  await until("the next item", async () => (await asked(page)) !== id);
  return [id, truth().get(id)];
}

test("a whole session by keyboard only", async () => {
  const server = await serve(digits("keys"));
  const page = await open(server);
  await page.waitForSelector(".item img");
  const given = [];
  for (let step = 0; step < 25; step++) given.push(await answer(page));
  await saved(page);
  equal((await labels(server)).map(([item, text]) => [item, text]), given, "the log is what was typed");
  // Undo twice, redo once: the item that was taken back is on screen again.
  await page.keyboard.press("Backspace");
  await until("the last item is back", async () => (await asked(page)) === given[24][0]);
  await page.keyboard.press("Backspace");
  await until("the one before is back", async () => (await asked(page)) === given[23][0]);
  await until("two labels are taken back", async () => (await server.get("project")).labelled === 23);
  await page.keyboard.press("Shift+Backspace");
  await until("one came again", async () => (await server.get("project")).labelled === 24);
  // Undo, redo, undo: always what was done last; and again after a reload.
  await page.keyboard.press("Backspace");
  await until("it is taken back again", async () => (await asked(page)) === given[23][0] && (await server.get("project")).labelled === 23);
  await page.reload();
  await page.waitForSelector(".item img");
  await page.keyboard.press("Backspace");
  await until("the one before that is back", async () => (await asked(page)) === given[22][0]);
  // Keys faster than the next item: none of them answers the same item twice.
  for (let step = 0; step < 5; step++) {
    await atOnce(page, truth().get(await ready(page)), "4");
  }
  equal((await server.get("project")).conflicts, 0, "nothing contradicts itself");
  // Skip, leave out, unsure.
  for (const [key, kind] of [["Space", "skip"], ["Delete", "exclude"]]) {
    const id = await ready(page);
    await page.keyboard.press(key);
    await until(kind, async () => (await server.get("history?limit=5")).rows.some((row) => row.kind === kind && row.item === id));
    await until("the next item", async () => (await asked(page)) !== id);
  }
  const soft = await ready(page);
  await page.keyboard.press("Enter");
  await page.keyboard.press("3");
  await page.keyboard.press("8");
  await page.keyboard.press("Enter");
  await until("an unsure answer", async () => (await labels(server)).some(([item, text]) => item === soft && text === "3 0.5, 8 0.5"));
  const half = await until("the next item", async () => { const id = await asked(page); return id !== soft && id; });
  await page.keyboard.press("Shift+Digit5");
  await until("half an answer", async () => (await labels(server)).some(([item, text]) => item === half && text === "5 0.5"));
  // The sheet of keys opens and closes; views follow the brackets.
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("]");
  await until("the map", async () => (await page.evaluate(() => location.hash)) === "#map");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("first use: classes are typed while labelling, renamed, and given other keys", async () => {
  const pool = path.join(place, "rows.csv");
  fs.writeFileSync(pool, `x,y\n${Array.from({ length: 40 }, (_, i) => `${i % 2},${i / 40}`).join("\n")}\n`);
  const project = path.join(place, "first.dial");
  run("new", pool, "--project", project);
  const server = await serve(project);
  const page = await open(server);
  await page.waitForSelector(".classes.none input");
  await page.keyboard.type("odd ones");
  await page.keyboard.press("Enter");
  await until("the first class and label", async () => (await server.get("project")).labelled === 1);
  await ready(page);
  await page.keyboard.press("+");
  await page.keyboard.type("even ones");
  await page.keyboard.press("Enter");
  await until("two classes, each with a label", async () => (await server.get("project")).labelled === 2);
  equal((await server.get("project")).classes.map((one) => one.name), ["odd ones", "even ones"], "as they were typed");
  await page.click("text=Edit classes");
  await page.fill("dialog td input[aria-label='Name'] >> nth=0", "Odd");
  await page.keyboard.press("Tab");
  await page.keyboard.type("y");
  await until("the new name", async () => (await server.get("project")).classes[0].name === "Odd");
  await until("the new name on its button", async () => (await page.textContent(".class"))?.includes("Odd"));
  equal(await page.inputValue("dialog input[aria-label^='Key'] >> nth=0"), "y", "a key typed while the name was saved");
  equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")?.slice(0, 3)), "Key", "keeps the focus");
  await page.fill("dialog input[aria-label^='Key'] >> nth=0", "z");
  await page.keyboard.press("Tab");
  await until("the new key", async () => (await server.get("project")).classes[0].key === "z");
  await page.keyboard.press("Escape");
  await until("the key on its button", async () => (await page.textContent(".class kbd")) === "z");
  const before = (await server.get("project")).labelled;
  await page.keyboard.press("z");
  await until("a label by the new key", async () => (await server.get("project")).labelled === before + 1);
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("lasso, bulk, review and export agree with the log", async () => {
  const server = await serve(digits("many"));
  const page = await open(server);
  await page.waitForSelector(".item img");
  for (let step = 0; step < 30; step++) await answer(page);
  await saved(page);
  // Lasso on the map: one undoable step.
  await page.goto(`${server.origin}/#map`);
  await until("the map is drawn", async () => (await page.textContent(".note"))?.includes("Drag"));
  await until("colours", async () => (await page.getAttribute("canvas.map", "data-version")) !== null);
  const box = await page.locator("canvas.map").boundingBox();
  const at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
  await page.keyboard.down("Shift");
  await page.mouse.move(...at(0.3, 0.2));
  await page.mouse.down();
  for (const [x, y] of [[0.7, 0.2], [0.7, 0.8], [0.3, 0.8], [0.3, 0.25]]) await page.mouse.move(...at(x, y), { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const chosen = Number((await until("a choice", () => page.locator(".panel h2").textContent().catch(() => null))).split(" ")[0]);
  hold(chosen > 5, `${chosen} chosen`);
  const before = (await server.get("project")).labelled;
  await page.click(".panel .class >> nth=1");
  await until("all of them are labelled", async () => (await server.get("project")).labelled === before + chosen);
  await page.keyboard.press("Backspace");
  await until("one undo takes them back", async () => (await server.get("project")).labelled === before);
  // Bulk: two are unticked, the rest accepted.
  await page.goto(`${server.origin}/#bulk`);
  await page.waitForSelector(".tile");
  const tiles = await page.locator(".tile").count();
  hold(tiles > 2, `${tiles} tiles`);
  await page.click("text=Tick all");
  const out = [await page.locator(".tile").nth(0).getAttribute("title"), await page.locator(".tile").nth(1).getAttribute("title")];
  await page.click(".tile >> nth=0");
  await page.click(".tile >> nth=1");
  await page.keyboard.press("Enter");
  await until("the rest is labelled", async () => (await server.get("project")).labelled === before + tiles - 2);
  await page.waitForTimeout(1000);
  for (const id of out) equal(await page.locator(`.tile[title="${id}"]`).count(), 0, "what was unticked does not come back");
  // Review: a wrong label is found, and mended with a key.
  const wrong = (await server.get("items?open=true&order=certain&limit=1")).rows[0];
  const other = wrong.belief.class === 0 ? 1 : 0;
  await server.post("decisions", { key: "wrong", decisions: [{ kind: "label", item: wrong.id, classes: [{ class: other }] }] });
  await until("it is suspected", async () => (await server.get("suspects")).rows.some((row) => row.id === wrong.id));
  await page.goto(`${server.origin}/#review`);
  // Others that were accepted above may be more suspicious.
  const doubt = page.locator(".doubts button").filter({ has: page.locator(`bdi:text-is("${wrong.id}")`) });
  await until("it is listed", async () => (await doubt.count()) === 1);
  await doubt.click();
  await until("it is on screen", async () => (await doubt.getAttribute("aria-current")) === "true");
  await page.keyboard.press(truth().get(wrong.id));
  await until("it is mended", async () => (await server.get(`item?id=${wrong.id}`)).labels[0].classes[0].class === Number(truth().get(wrong.id)));
  await page.click("text=History");
  await page.fill("input[type=search]", wrong.id);
  await page.keyboard.press("Tab");
  await until("its history", async () => (await page.locator(".history tr").count()) >= 2);
  // Export: what is downloaded is what the log holds.
  await page.goto(`${server.origin}/#export`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("[data-format=jsonl]")]);
  const rows = fs.readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const told = rows.filter((row) => row.label).length;
  equal(told, (await server.get("project")).labelled, "labels in the file and in the log");
  equal(rows.length, 300, "rows");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("nothing is lost or doubled by reloads, a killed server, or a bad line", async () => {
  const project = digits("storm");
  let server = await serve(project);
  const page = await open(server);
  await page.waitForSelector(".item img");
  const given = [];
  for (let step = 0; step < 5; step++) given.push(await answer(page));
  await page.reload();
  await page.waitForSelector(".item img");
  for (let step = 0; step < 3; step++) given.push(await answer(page));
  // The server dies in the middle of the work; answers go on with what is kept ready, and are sent when it is back.
  await saved(page);
  await stocked(page);
  await server.kill();
  for (let step = 0; step < 3; step++) given.push(await answer(page));
  await until("it is said", async () => (await page.textContent("#saved"))?.startsWith("Offline"));
  // Even a reload... of a page that cannot be loaded: the outbox is in the browser.
  // No port is named: the project remembers it, so that the browser finds what it has kept.
  const before = server.port;
  server = await serve(project);
  equal(server.port, before, "the port");
  await saved(page);
  equal(new Map((await labels(server)).map(([item, text]) => [item, text])).size, given.length, "every answer is there once");
  // A line that is down for a while, and a reload while answers wait.
  await page.waitForSelector(".item img");
  for (let step = 0; step < 2; step++) given.push(await answer(page));
  await saved(page);
  await stocked(page);
  await page.context().setOffline(true);
  for (let step = 0; step < 3; step++) given.push(await answer(page));
  const last = await asked(page);
  await page.keyboard.press(truth().get(last));
  given.push([last, truth().get(last)]);
  // Nothing is kept ready any more: then nothing is asked, and keys answer nothing.
  await page.waitForSelector(".item .empty");
  for (const key of "1234") await page.keyboard.press(key);
  await page.waitForTimeout(300);
  await page.context().setOffline(false);
  await page.reload();
  await page.waitForSelector(".item img");
  await saved(page);
  const stored = (await labels(server)).map(([item, text]) => `${item} ${text}`);
  equal((await server.get("project")).conflicts, 0, "no conflicts");
  equal([...stored].sort(), given.map(([item, text]) => `${item} ${text}`).sort(), "the log is what was typed");
  hold(page.trouble.length === 0, page.trouble.join("; "));
  await page.context().close();
  await server.stop();
});

test("two tabs and two people", async () => {
  const server = await serve(digits("crowd", "--overlap", "2"));
  const first = await open(server);
  await first.waitForSelector(".item img");
  const name = async (page, who) => {
    await page.click("#person");
    await page.fill("dialog input", who);
    await page.click("dialog .main");
  };
  await name(first, "ann");
  const tab = await first.context().newPage();
  watch(tab);
  await tab.goto(server.origin);
  await tab.waitForSelector(".item img");
  const other = await open({ ...server, link: (await server.post("launch", {})) });
  await other.waitForSelector(".item img");
  await name(other, "bob");
  for (const page of [first, tab, other]) await page.reload();
  for (const page of [first, tab, other]) await page.waitForSelector(".item img");
  for (let step = 0; step < 6; step++) for (const page of [first, tab, other]) await answer(page);
  for (const page of [first, tab, other]) await saved(page);
  const people = (await server.get("project")).annotators;
  equal(people.bob, 6, "labels of bob");
  hold(people.ann >= 6 && people.ann <= 12, `labels of ann: ${people.ann}`);
  // They disagree about one item: it is listed.
  const item = (await labels(server)).find(([, , who]) => who === "ann")[0];
  await server.post("decisions", { key: "d", annotator: "bob", replace: true, decisions: [{ kind: "label", item, classes: [{ class: (Number(truth().get(item)) + 1) % 10 }] }] });
  await first.goto(`${server.origin}/#review`);
  await first.click("text=Disagreements");
  await until("the disagreement", async () => (await first.locator(".doubts button").first().textContent().catch(() => ""))?.startsWith(item));
  for (const page of [first, tab, other]) equal(page.trouble, [], "no error");
  await first.context().close();
  await other.context().close();
  await server.stop();
});

test("500 hostile strings are text and nothing else", async () => {
  const parts = ["<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"><svg/onload=window.hit=1>", "javascript:window.hit=1", "</textarea><script>window.hit=1</script>",
    "{{constructor.constructor('window.hit=1')()}}", "'-window.hit=1-'", "${window.hit=1}", "<iframe srcdoc='<script>parent.hit=1</script>'>", "<a href=javascript:window.hit=1>x</a>",
    "<style>*{display:none}</style>", "<base href=//evil.example>", "<form action=//evil.example><input>", "<math><mi xlink:href='javascript:window.hit=1'>", "<details open ontoggle=window.hit=1>",
    "\u202e\u2066<b>bidi</b>", "<!--<script>window.hit=1//-->", "&lt;script&gt;window.hit=1&lt;/script&gt;", "%3Cscript%3Ewindow.hit=1%3C/script%3E", "<object data=data:text/html,<script>parent.hit=1</script>>"];
  const strings = Array.from({ length: 500 }, (_, i) => `${parts[i % parts.length]} ${["", "\u200b", "\u00a0", "<", ">", "'", "\"", "`", "\\", "%00"][i % 10]}${i}`);
  const pool = path.join(place, "hostile.jsonl");
  fs.writeFileSync(pool, strings.map((text) => JSON.stringify({ id: `id ${text}`, text, note: text })).join("\n"));
  const project = path.join(place, "hostile.dial");
  run("new", pool, "--project", project);
  const server = await serve(project);
  for (let i = 0; i < 20; i++) await server.post("decisions", { key: `c${i}`, decisions: [{ kind: "add-class", name: strings[i].trim() }] });
  for (let i = 0; i < 40; i++) await server.post("decisions", { key: `l${i}`, annotator: strings[i].slice(0, 150), decisions: [{ kind: "label", item: `id ${strings[i]}`, classes: [{ class: i % 20 }] }] });
  const page = await open(server);
  await page.waitForSelector(".shown.text");
  equal(await page.locator(".class .name").first().textContent(), strings[0].trim(), "a class is its text");
  const shown = new Set();
  for (let step = 0; step < 30; step++) {
    const id = await asked(page);
    equal(await page.textContent(".shown.text bdi"), id.replace(/^id /, ""), "a text is itself");
    shown.add(id);
    await page.keyboard.press("1");
    await until("the next item", async () => (await asked(page)) !== id);
  }
  for (const view of ["map", "bulk", "review", "progress", "export"]) {
    await page.goto(`${server.origin}/#${view}`);
    await page.waitForTimeout(400);
  }
  await page.goto(`${server.origin}/#review`);
  await page.click("text=History");
  await page.waitForSelector(".history tr");
  equal(await page.evaluate(() => window.hit), undefined, "no script ran");
  equal(await page.locator("main script, main iframe, main object, main base, main style, main form[action]").count(), 0, "nothing became markup");
  equal(page.trouble, [], "no dialog, no error");
  await page.context().close();
  await server.stop();
});

test("a scene: false colours, spectrum, overlay, a pixel labelled with a click", async () => {
  const project = path.join(place, "scene.dial");
  run("new", "builtin:scene", "--project", project);
  const server = await serve(project);
  const page = await open(server);
  await page.goto(`${server.origin}/#scene`);
  await page.waitForSelector(".scene-frame canvas");
  await until("the picture", () => page.evaluate(() => document.querySelector(".scene-frame img")?.naturalWidth > 0));
  await page.mouse.move(...await pixelAt(page, 0.4, 0.6));
  await page.waitForSelector(".scene-spectrum .chart");
  await page.mouse.click(...await pixelAt(page, 0.7, 0.3));
  await page.waitForSelector(".panel .class");
  await page.click(".panel .class >> nth=0");
  await until("it is labelled", async () => (await server.get("project")).labelled === 1);
  await page.selectOption(".scene-main select", "bands");
  await until("three bands", () => page.evaluate(() => document.querySelector(".scene-frame img")?.dataset.path.includes("red=")));
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

await main();
