// What goes wrong and how people get out of it: answers that contradict each other, a browser that keeps nothing, many tabs,
// many classes; and that nothing typed or focused is lost while the page draws itself anew.

import fs from "node:fs";
import path from "node:path";
import { asked, equal, folder, hold, open, run, serve, stocked, test, until, watch } from "./harness.mjs";

const place = folder();

function digits(name, ...more) {
  const project = path.join(place, `${name}.dial`);
  run("new", "builtin:digits:300", "--project", project, ...more);
  return project;
}

const saved = (page) => until("everything is saved", async () => (await page.textContent("#saved")) === "Saved");
const classOf = async (server, item) => (await server.get(`item?id=${item}`)).labels[0]?.classes[0].class;
let keys = 0;
const tell = (server, item, ...classes) => server.post("decisions", { key: `k${keys++}`, decisions: [{ kind: "label", item, classes: classes.map((id) => ({ class: id, weight: 1 / classes.length })) }] });
/** Labels some items so that there is a model: the class is the row, modulo ten. */
async function teach(server, count) {
  for (let row = 0; row < count; row++) await tell(server, String(row), row % 10);
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_ready && now.model_version === now.version; });
}

test("an answer that contradicts another is told once, with the way out", async () => {
  const server = await serve(digits("refusals"));
  const page = await open(server);
  // Without news from the server the page cannot know of the other answer.
  await page.route("**/api/v1/changes", (route) => route.abort());
  await page.reload();
  for (const [offer, class_] of [["Replace by 4", 4], ["Keep 7", 7]]) {
    const item = await until("an item", () => asked(page).catch(() => null));
    await tell(server, item, 7);
    await page.keyboard.press("4");
    await page.waitForSelector(".toast button");
    equal(await page.locator(".toast").count(), 1, "told once");
    equal(await page.locator(".toast p").textContent(), `You called ${item} 7 before, and 4 now. Which is right?`, "in people's words");
    equal((await server.get("project")).conflicts, 1, "conflict");
    await page.click(`.toast button >> text=${offer}`);
    await until("it is settled", async () => (await server.get("project")).conflicts === 0);
    equal(await classOf(server, item), class_, offer);
    await until("the next item", async () => (await asked(page)) !== item);
  }
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("names and merges are taken back with the undo key, and a taken name is said once", async () => {
  const server = await serve(digits("names"));
  const page = await open(server);
  await page.waitForSelector(".item img");
  await page.click("text=Edit classes");
  const first = "dialog td input[aria-label='Name'] >> nth=0";
  await page.fill(first, "7");
  await page.keyboard.press("Tab");
  await page.waitForSelector(".toast button");
  equal(await page.locator(".toast").count(), 1, "told once");
  await page.click(".toast button >> text=Merge the two");
  await until("they are one", async () => (await server.get("project")).classes.length === 9);
  await until("the list knows", async () => (await page.locator("dialog .class-rows tbody tr").count()) === 9);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Backspace");
  await until("they are two again", async () => (await server.get("project")).classes.length === 10);
  await page.click("text=Edit classes");
  await page.fill(first, "nought");
  await page.keyboard.press("Tab");
  await until("the name", async () => (await server.get("project")).classes[0].name === "nought");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Backspace");
  await until("the name as it was", async () => (await server.get("project")).classes[0].name === "0");
  await until("it is said", async () => (await page.textContent("#toasts")).includes("Undone: a change of classes."));
  await page.keyboard.press("Backspace");
  await until("nothing more", async () => (await page.textContent("#toasts")).includes("Nothing to undo"));
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("whoever leaves with unsent answers is warned, and can take them along as a file", async () => {
  const project = digits("leave");
  let server = await serve(project);
  const page = await open(server);
  await page.waitForSelector(".item img");
  await stocked(page);
  await server.kill();
  const given = [];
  for (let step = 0; step < 2; step++) {
    const id = await asked(page);
    given.push([id, step]);
    await page.keyboard.press(String(step));
    await until("the next item", async () => (await asked(page)) !== id);
  }
  await page.waitForSelector("#banner button");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#banner button")]);
  const file = path.join(place, "answers.json");
  fs.copyFileSync(await download.path(), file);
  equal(JSON.parse(fs.readFileSync(file, "utf8")).submissions.map((one) => [one.decisions[0].item, one.decisions[0].classes[0].class]), given, "what waits");
  await page.close({ runBeforeUnload: true });
  await until("a warning", () => page.warned === 1);
  await page.context().close();
  // Another browser, which knows nothing of them, takes up the file; twice, which changes nothing.
  server = await serve(project);
  const other = await open(server);
  await other.goto(`${server.origin}/#review`);
  await other.click("role=tab[name=/Conflicts/]");
  for (let step = 0; step < 2; step++) {
    await other.setInputFiles("input[type=file]", file);
    await until("they are told", async () => (await other.textContent("#toasts")).includes("2 answers taken"));
    await saved(other);
    for (const [item, class_] of given) await until("it is there", async () => (await classOf(server, item)) === class_);
    equal((await server.get("history?limit=100&search=label")).rows.filter((row) => row.kind === "label").length, 2, "labels");
  }
  equal(other.trouble, [], "no error");
  await other.context().close();
  await server.stop();
});

test("a browser that cannot store answers says so loudly", async () => {
  const server = await serve(digits("full"));
  const page = await open(server);
  await page.addInitScript(() => { IDBObjectStore.prototype.add = () => { throw new DOMException("full", "QuotaExceededError"); }; });
  await page.reload();
  await page.waitForSelector(".item img");
  await page.route("**/api/v1/decisions", (route) => route.abort());
  await page.keyboard.press("1");
  await until("the banner", async () => (await page.textContent("#banner")).includes("could not store 1 answer"));
  await page.unroute("**/api/v1/decisions");
  await until("it is sent all the same", async () => (await server.get("project")).labelled === 1);
  await until("the banner goes", async () => page.locator("#banner").isHidden());
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("forty classes: no two look alike, and each can be found by typing", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `a bird whose name is long and differs at its end only, number ${i + 1}`);
  const server = await serve(digits("forty", "--classes", names.join(";").replaceAll(",", " -").replaceAll(";", ",")));
  const page = await open(server);
  await page.waitForSelector(".item img");
  const looks = await page.locator(".class").evaluateAll((all) => all.map((one) => `${one.style.getPropertyValue("--hue")} ${one.querySelector(".dot").dataset.shape}`));
  equal([looks.length, new Set(looks).size], [40, 40], "looks");
  const cut = await page.locator(".class .name").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length);
  equal(cut, 0, "names that are cut");
  const item = await asked(page);
  await page.keyboard.press("/");
  await page.keyboard.type("number 36");
  equal(await page.locator(".class").count(), 1, "what fits");
  await page.keyboard.press("Enter");
  await until("a class without a key of its own", async () => (await classOf(server, item)) === 35);
  await until("all classes are there again", async () => (await page.locator(".class").count()) === 40);
  // On the map, and in Review, the same box does the same.
  await page.goto(`${server.origin}/#map`);
  await page.waitForSelector("canvas.map[data-version]");
  await page.focus("canvas.map");
  await page.keyboard.press("Enter");
  const chosen = await until("a point", () => page.locator(".panel h2").textContent().catch(() => null));
  await page.keyboard.press("/");
  await page.keyboard.type("number 33");
  await page.keyboard.press("Enter");
  await until("it is labelled", async () => (await classOf(server, chosen)) === 32);
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("eight tabs of one browser share a line, and no item is asked twice", async () => {
  const server = await serve(digits("tabs"));
  const first = await open(server);
  const tabs = [first, ...await Promise.all(Array.from({ length: 7 }, () => first.context().newPage()))];
  for (const tab of tabs.slice(1)) watch(tab);
  // All begin at once.
  await Promise.all(tabs.map((tab) => tab.goto(server.origin)));
  await Promise.all(tabs.map((tab) => tab.waitForSelector(".item img")));
  const items = await Promise.all(tabs.map(asked));
  equal(new Set(items).size, 8, `items on screen: ${items}`);
  await Promise.all(tabs.map((tab) => tab.keyboard.press("1")));
  for (const tab of tabs) await until("its answer is saved", async () => (await tab.textContent("#count")).startsWith("8 of"));
  equal((await server.get("project")).conflicts, 0, "nothing contradicts itself");
  // The tab that listens goes: another one takes over.
  await first.close();
  await tell(server, "299", 3).catch(() => {});
  await tell(server, "298", 3).catch(() => {});
  const now = (await server.get("project")).labelled;
  hold(now > 8, `${now} labels`);
  for (const tab of tabs.slice(1)) await until("the news", async () => (await tab.textContent("#count")).startsWith(`${now} of`));
  for (const tab of tabs) equal(tab.trouble, [], "no error");
  await tabs[1].context().close();
  await server.stop();
});

test("items that others are answering are not called finished", async () => {
  const project = path.join(place, "taken.dial");
  run("new", "builtin:moons:40", "--classes", "up,down", "--project", project);
  const server = await serve(project);
  for (let person = 0; person < 40; person++) equal((await server.post("next", { annotator: `p${person}` })).items.length, 1, "an item");
  const page = await open(server);
  await until("it says who has them", async () => (await page.locator(".item .empty h2").first().textContent().catch(() => "")) === "Others are answering all open items right now");
  // An item that is free again comes by itself.
  const mine = (await server.post("next", { annotator: "p7" })).items[0].id;
  await server.post("decisions", { key: "late", annotator: "p7", decisions: [{ kind: "label", item: mine, classes: [{ class: 0 }] }] });
  await server.post("decisions", { key: "back", annotator: "p7", decisions: [{ kind: "undo", group: null }] });
  equal(await until("the item", async () => page.locator(".item > footer bdi").first().textContent({ timeout: 500 }).catch(() => null)), mine, "the free item");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("bulk goes on with the next page and remembers what was unticked", async () => {
  const server = await serve(digits("pages"));
  await teach(server, 30);
  const page = await open(server);
  await page.goto(`${server.origin}/#bulk`);
  await page.waitForSelector(".tile");
  const titles = () => page.locator(".tile").evaluateAll((all) => all.map((one) => one.title));
  await page.click("text=Untick all");
  const before = await titles();
  hold(before.length > 3, `${before.length} tiles`);
  for (const i of [0, 1]) await page.click(`.tile >> nth=${i}`);
  await page.keyboard.press("Enter");
  await until("two labels more", async () => (await server.get("project")).labelled === 32);
  await page.waitForTimeout(600);
  for (const id of before) hold(!(await titles()).includes(id), `${id} is there again`);
  await page.reload();
  await page.waitForSelector(".tile, .grid .empty");
  await page.waitForTimeout(600);
  for (const id of before) hold(!(await titles()).includes(id), `${id} is there after a reload`);
  await page.click("text=/Show \\d+ unticked/");
  await until("what was unticked can be had again", async () => (await titles()).includes(before[2]));
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("an unsure answer that was stored as a conflict is shown with its item and taken up", async () => {
  const server = await serve(digits("aside"));
  await tell(server, "5", 2);
  await tell(server, "5", 3, 8).catch(() => {});
  const page = await open(server);
  await page.goto(`${server.origin}/#review`);
  await page.click("role=tab[name=/Conflicts/]");
  await page.waitForSelector(".conflicts img");
  equal(await page.textContent(".conflicts strong"), "3 or 8, unsure", "in words");
  await page.click("text=Take this answer");
  await until("nothing waits", async () => (await server.get("project")).conflicts === 0);
  equal((await server.get("item?id=5")).labels[0].classes, [{ class: 3, weight: 0.5 }, { class: 8, weight: 0.5 }], "the answer");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("nothing typed or focused is lost while the page draws itself anew", async () => {
  const project = path.join(place, "focus.dial");
  run("new", "builtin:scene", "--project", project);
  const server = await serve(project);
  const page = await open(server);
  for (let i = 0; i < 12; i++) await tell(server, (await server.post("next", {})).items[0].id, i % 6);
  await page.goto(`${server.origin}/#review`);
  await page.click("role=tab[name=History]");
  equal(await page.evaluate(() => document.activeElement?.textContent), "History", "the tab keeps the focus");
  await page.waitForSelector(".history");
  await page.click("input[type=search]");
  for (const letter of "label") {
    await page.keyboard.type(letter);
    await tell(server, (await server.post("next", {})).items[0].id, 0);
    await page.waitForTimeout(150);
  }
  await page.waitForTimeout(500);
  equal(await page.inputValue("input[type=search]"), "label", "what was typed");
  equal(await page.evaluate(() => document.activeElement?.tagName), "INPUT", "the box keeps the focus");
  await page.goto(`${server.origin}/#scene`);
  await page.waitForSelector(".scene-main select");
  await page.selectOption(".scene-main select", "bands");
  await page.focus("input[aria-label=Green]");
  const before = Number(await page.inputValue("input[aria-label=Green]"));
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  equal(Number(await page.inputValue("input[aria-label=Green]")), before + 3, "the slider keeps the focus");
  // What is near is shown as it is: a curve.
  await page.goto(`${server.origin}/#label`);
  await page.waitForSelector(".near .chart");
  // The export shows only what people said, if that is wanted.
  await page.goto(`${server.origin}/#export`);
  await page.check("text=Labels only");
  await until("labels only", async () => !(await page.textContent(".export-view th:last-child"))?.includes("evidence"));
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("what was answered and what comes next are both announced", async () => {
  const server = await serve(digits("said"));
  const page = await open(server);
  await page.waitForSelector(".item img");
  // The first item was announced a while ago.
  await page.waitForTimeout(1600);
  await page.evaluate(() => {
    globalThis.said = [];
    new MutationObserver(() => globalThis.said.push([performance.now(), document.querySelector("#live").textContent])).observe(document.querySelector("#live"), { childList: true });
  });
  const item = await asked(page);
  await page.keyboard.press("3");
  const next = await until("the next item", async () => { const id = await asked(page); return id !== item && id; });
  const said = await page.evaluate(() => globalThis.said);
  const [first, then] = [said[0], said[said.length - 1]];
  equal(first[1], `${item} is 3`, "announced at once");
  // What comes a while later is another announcement; by then the first was read.
  equal(then[1], `${then[0] - first[0] < 1500 ? `${item} is 3. ` : ""}The picture to label: ${next}`, "announced then");
  await page.context().close();
  await server.stop();
});

test("every string of the page is used", async () => {
  const folder_ = new URL("../../page/", import.meta.url);
  const files = [...fs.readdirSync(folder_), ...fs.readdirSync(new URL("views/", folder_)).map((name) => `views/${name}`)].filter((name) => name.endsWith(".js"));
  const strings = fs.readFileSync(new URL("strings.js", folder_), "utf8");
  const code = files.map((name) => fs.readFileSync(new URL(name, folder_), "utf8")).join("\n");
  const names = [...strings.slice(strings.indexOf("export const T")).matchAll(/^  (\w+):/gm)].map(([, name]) => name);
  hold(names.length > 100, `${names.length} strings`);
  equal(names.filter((name) => !new RegExp(`\\bT\\.${name}\\b`).test(code)), [], "not used");
});
