// Texts that are longer than the window or run the other way, and windows in which everything needed is in sight.

import fs from "node:fs";
import path from "node:path";
import { equal, folder, hold, open, overflow, run, serve, test, until } from "./harness.mjs";

const place = folder();
const asked = (page) => page.locator(".item > footer bdi").first().textContent();
const WINDOWS = [["1440x900", 1440, 900], ["1920x1080", 1920, 1080], ["a phone", 390, 844], ["a phone held sideways", 844, 390], ["200 % zoom", 720, 450]];

function project(name, ...args) {
  const made = path.join(place, `${name}.dial`);
  run("new", ...args, "--project", made);
  return made;
}

const TEXTS = {
  long: Array.from({ length: 60 }, (_, i) => `Paragraph ${i + 1} of a report that nobody shortened: what was found, by whom, and what was done about it afterwards.`).join("\n\n"),
  arabic: "هذا نص عربي قصير يصف شيئا ما.\nوهذا سطر آخر.",
  hebrew: "שלום עולם, זה טקסט בעברית.",
  mixed: "هذا سطر عربي فيه كلمة English في الوسط.\nThis line is English and has عربي in it.",
  code: "def halve(x):\n    if x:\n        return x / 2\n\treturn 0",
  short: "One line.",
};

async function texts(name) {
  const pool = path.join(place, `${name}.jsonl`);
  const rows = [...Object.entries(TEXTS), ...Array.from({ length: 40 }, (_, i) => [`note ${i}`, `note ${i} about ${["rain", "wind", "snow"][i % 3]} and ${["hail", "sun"][i % 2]}`])];
  fs.writeFileSync(pool, rows.map(([id, text]) => JSON.stringify({ id, text })).join("\n"));
  return serve(project(name, pool, "--classes", "report,letter,code"));
}

/** Brings an item on screen: whatever was answered last comes back with undo. */
async function bring(page, server, id) {
  const { labelled } = await server.get("project");
  await server.post("decisions", { key: `bring ${id} ${Math.random()}`, decisions: [{ kind: "label", item: id, classes: [{ class: 0 }] }] });
  await until("the page knows", async () => (await page.locator("#count").evaluate((one) => one.textContent)).startsWith(`${labelled + 1} of`));
  await page.waitForTimeout(400);
  await page.keyboard.press("Backspace");
  await until(`${id} on screen`, async () => (await asked(page).catch(() => "")) === id);
  await page.waitForTimeout(150);
}

const box = async (page, selector) => {
  const found = await page.locator(selector).first().boundingBox();
  hold(found, `${selector} is not in sight`);
  return { left: found.x, right: found.x + found.width, top: found.y, bottom: found.y + found.height, width: found.width, height: found.height };
};
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;

test("texts: what is longer than the window scrolls by key and says so, and takes the room there is", async () => {
  const server = await texts("texts");
  for (const [name, width, height] of WINDOWS) {
    const page = await open({ ...server, link: await server.post("launch", {}) }, { viewport: { width, height } });
    await page.waitForSelector(".item .shown.text");
    await bring(page, server, "long");
    const text = await box(page, ".shown.text");
    hold(text.bottom <= height && text.top >= 0 && text.left >= 0 && text.right <= width, `${name}: the text is within the window`);
    const below = await box(page, width > 700 && height < 540 ? ".item" : ".deeds");
    hold(below.bottom <= height && below.bottom > height - 150, `${name}: the window is used to its end: ${below.bottom} of ${height}`);
    hold(text.height > 0.35 * height, `${name}: ${text.height} of ${height} for the text`);
    const top = () => page.locator(".shown.text").evaluate((one) => [Math.round(one.scrollTop), Math.round(one.scrollHeight - one.clientHeight)]);
    equal(await page.evaluate(() => document.activeElement === document.body), true, "nothing has the focus");
    const more = page.locator(".reading .more");
    hold(await more.isVisible(), `${name}: it says that there is more`);
    hold(await page.locator(".reading").evaluate((one) => getComputedStyle(one, "::after").opacity === "1" && getComputedStyle(one, "::before").opacity === "0"), `${name}: a shadow below, none above`);
    await page.keyboard.press("PageDown");
    const [first] = await until("a page further", async () => { const now = await top(); return now[0] > 0 && now; });
    hold(first > 0.6 * text.height && first < text.height, `${name}: a page is ${first} of ${text.height}`);
    await page.keyboard.press("ArrowDown");
    await until("a line further", async () => (await top())[0] > first);
    await page.keyboard.press("PageUp");
    await page.keyboard.press("ArrowUp");
    await until("back", async () => (await top())[0] === 0);
    await page.keyboard.press("End");
    await until("at the end", async () => { const [at, end] = await top(); return Math.abs(at - end) <= 1; });
    await until("no more", async () => !await more.isVisible());
    await page.keyboard.press("Home");
    await until("at the beginning", async () => (await top())[0] === 0);
    await more.click();
    await until("by the button", async () => (await top())[0] > 0);
    // The focus is on the text now, and keys do the same there; a class key still labels.
    await page.keyboard.press("End");
    await until("at the end", async () => { const [at, end] = await top(); return Math.abs(at - end) <= 1; });
    // At the end it stays: the page does not slide away under it, and the next item is in sight.
    const slid = () => page.evaluate(() => document.querySelector("main").scrollTop);
    for (const key of ["PageDown", "End", "ArrowDown"]) await page.keyboard.press(key);
    await page.waitForTimeout(100);
    equal(await slid(), 0, `${name}: the page after the end of the text`);
    equal(await asked(page), "long", "the item");
    await page.evaluate(() => { document.querySelector("main").scrollTop = 5000; });
    await bring(page, server, "short");
    equal(await slid(), 0, `${name}: the page at a new item`);
    hold(!await page.locator(".reading .more").isVisible(), `${name}: nothing more of a short text`);
    equal(page.trouble, [], "no error");
    await page.context().close();
  }
  // In Review, where arrows go through the list, the other keys scroll.
  const page = await open({ ...server, link: await server.post("launch", {}) }, { viewport: { width: 1280, height: 800 } });
  for (const [who, class_] of [["ann", 0], ["bob", 1]]) await server.post("decisions", { key: who, annotator: who, replace: true, decisions: [{ kind: "label", item: "long", classes: [{ class: class_ }] }] });
  await page.goto(`${server.origin}/#review`);
  await page.click("role=tab[name=Disagreements]");
  await page.waitForSelector(".doubt .shown.text");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("PageDown");
  await until("a page of it", () => page.locator(".doubt .shown.text").evaluate((one) => one.scrollTop > 0));
  // Space keeps its one meaning.
  await page.goto(`${server.origin}/#label`);
  await page.waitForSelector(".item .shown.text");
  const id = await asked(page);
  await page.keyboard.press("Space");
  await until("it is skipped", async () => (await server.get("history?limit=5")).rows.some((one) => one.kind === "skip" && one.item === id));
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("texts: what runs from right to left stands at the right, line by line, and code keeps its indents", async () => {
  const server = await texts("ways");
  const page = await open(server, { viewport: { width: 1440, height: 900 } });
  await page.waitForSelector(".item .shown.text");
  /** The box of a part of the text on screen. */
  const part = (words) => page.evaluate((wanted) => {
    const node = document.querySelector(".item .shown.text bdi").firstChild;
    const range = document.createRange();
    const at = node.data.indexOf(wanted);
    range.setStart(node, at);
    range.setEnd(node, at + wanted.length);
    const { left, right, top } = range.getBoundingClientRect();
    return { left, right, top };
  }, words);
  const room = () => page.locator(".item .shown.text bdi").evaluate((one) => { const { left, right } = one.getBoundingClientRect(); return { left, right }; });
  for (const [id, words, side] of [["arabic", "هذا", "right"], ["arabic", "وهذا", "right"], ["hebrew", "שלום", "right"], ["mixed", "هذا", "right"], ["mixed", "This", "left"], ["short", "One", "left"], ["code", "def", "left"]]) {
    if (await asked(page) !== id) await bring(page, server, id);
    const [at, all] = [await part(words), await room()];
    hold(Math.abs(at[side] - all[side]) < 2, `${id}: ${words} begins at ${at[side]}, its line at ${all[side]}`);
    hold(all.right - all.left > 500, "lines are as wide as there is room");
  }
  await bring(page, server, "code");
  const [def, inner, innermost, tab] = [await part("def"), await part("if x"), await part("return x"), await part("return 0")];
  const step = inner.left - def.left;
  hold(step > 10 && Math.abs(innermost.left - inner.left - step) < 1 && Math.abs(tab.left - inner.left) < 1, `indents: ${[def, inner, innermost, tab].map((one) => one.left)}`);
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("embeddings: the curve is large and the numbers are small", async () => {
  const pool = path.join(place, "embeddings.npy");
  run("generate", "clusters", "--items", "200", "--dim", "24", "--out", pool);
  const server = await serve(project("embeddings", pool, "--classes", "north,east,south,west"));
  const page = await open(server, { viewport: { width: 1440, height: 900 } });
  await page.waitForSelector(".item .shown .chart");
  const [item, chart] = [await box(page, ".item"), await box(page, ".item .chart")];
  hold(chart.width > 0.85 * item.width && chart.height > 250, `the curve is ${chart.width} x ${chart.height} in ${item.width}`);
  const values = (await server.get(`item?id=${await asked(page)}`)).show.values;
  equal(await page.locator(".item .values li").count(), 24, "numbers");
  const written = await page.locator(".item .values li").allTextContents();
  hold(written.every((text, i) => Math.abs(Number(text) - values[i]) <= 1e-4 * Math.abs(values[i])), `the numbers are those of the item: ${written}`);
  const size = (selector) => page.locator(selector).first().evaluate((one) => parseFloat(getComputedStyle(one).fontSize));
  hold(await size(".item .values li") < await size("body"), "in small");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("screens: messages, help and edges cover nothing that is needed", async () => {
  const server = await serve(project("screens", "builtin:digits:300"));
  const { classes } = await server.get("project");
  for (let step = 0; step < 30; step++) {
    const [item] = (await server.post("next", {})).items;
    await server.post("decisions", { key: `teach ${step}`, decisions: [{ kind: "label", item: item.id, classes: [{ class: classes[item.row % 10].id }] }] });
  }
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_version === now.version; });
  for (const colorScheme of ["light", "dark"]) for (const [name, width, height] of WINDOWS) {
    const what = `${name}, ${colorScheme}`;
    const page = await open({ ...server, link: await server.post("launch", {}) }, { viewport: { width, height }, colorScheme });
    const to = async (view, wait) => { await page.evaluate((hash) => { location.hash = hash; }, view); await page.waitForSelector(wait); };
    await page.waitForSelector(".item img");
    await page.waitForTimeout(200);
    const tell = () => page.evaluate(async () => { (await import("/dom.js")).toast("48 items called Sandal. One undo takes them all back.", "good"); });
    // Label: every class and every deed is free, and takes a click while a message stands.
    // At once: while the model follows the page draws its buttons anew.
    const needed = (selector) => page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).filter((one) => one.width).map(({ x, y, width, height }) => ({ x, y, width, height })));
    await tell();
    await page.evaluate(async () => (await import("/dom.js")).toast("You called 17 Sandal before, and Coat now. Which is right?", "bad", [["Replace by Coat", () => {}]]));
    const toast = await box(page, "#toasts");
    hold(toast.left >= 0 && toast.right <= width && toast.top >= 0 && toast.bottom <= height, `${what}: the message is in the window`);
    for (const one of [...await needed(".class"), ...await needed(".deeds button")]) {
      const button = { left: one.x, right: one.x + one.width, top: one.y, bottom: one.y + one.height };
      hold(button.bottom <= height + 1 || name === "1440x900", `${what}: a button of Label is below the window`);
      hold(!meet(toast, button), `${what}: the message covers a button of Label`);
    }
    await page.click(".toast button >> text=Later");
    // Bulk: the footer is free.
    await to("#bulk", ".tile");
    await until(`${what}: a message and a question are clear of the footer of Bulk`, async () => {
      // A message goes away by itself, on a busy machine before it was looked at.
      await tell();
      await page.evaluate(async () => (await import("/dom.js")).toast("Which is right?", "bad", [["Replace", () => {}]]));
      await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
      const [told, foot] = [await needed(".toast"), await box(page, ".bulk-foot")];
      return told.length === 2 && told.every((one) => !meet({ left: one.x, right: one.x + one.width, top: one.y, bottom: one.y + one.height }, foot));
    }, 5000);
    equal(await page.evaluate(async () => {
      (await import("/dom.js")).toast("Told.", "good");
      return getComputedStyle([...document.querySelectorAll(".toast")].find((one) => !one.querySelector("button"))).pointerEvents;
    }), "none", "clicks go through");
    await page.click(".toast button >> text=Later");
    if (width <= 544) hold((await box(page, ".bulk-foot")).height < 70, `${what}: the footer of Bulk is ${(await box(page, ".bulk-foot")).height} high`);
    // The map: its help and its legend each have their place.
    await to("#map", "canvas.map[data-version]");
    await until("the help", async () => (await page.textContent(".note")).includes("Drag"));
    const legend = await box(page, ".stage .legend");
    if (width > 544) hold(!meet(await box(page, ".note"), legend), `${what}: the help of the map covers its legend`);
    if (width > 544) hold((await box(page, ".note")).bottom <= height, `${what}: the help is in the window`);
    hold((await page.locator(".stage .legend").innerText()).includes("unexplored"), `${what}: the legend says what grey is`);
    if (width <= 544) {
      const map = await box(page, "canvas.map");
      for (const other of [".stage .legend", ".stage .tools"]) hold(!meet(map, await box(page, other)), `${what}: ${other} lies over the map: ${JSON.stringify([map, await box(page, other)])}`);
      hold(map.height <= 1.1 * map.width && map.height > 0.8 * map.width, `${what}: the map is ${map.width} x ${map.height}`);
    }
    // Review: the buttons of the picture are beside it.
    await to("#review", ".doubt .picture img");
    hold(!meet(await box(page, ".doubt .picture .tools"), await box(page, ".doubt .picture .frame")), `${what}: buttons on the picture of Review`);
    // The views: all in sight, or a fade where they go on.
    const tabs = await page.locator("#tabs a").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
    const faded = await page.locator("#tabs").evaluate((one) => one.dataset.after === "true" && getComputedStyle(one).maskImage.includes("gradient"));
    hold(Math.max(...tabs) <= width + 1 || faded, `${what}: a view is beyond the edge, and nothing says so`);
    // Export: an id is a line.
    await to("#export", ".export-view td");
    const heights = await page.locator(".export-view tbody td:first-child").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    hold(Math.max(...heights) < 45, `${what}: rows of ${Math.max(...heights)} pixels`);
    hold(await overflow(page) <= 1, `${what}: Export is wider than the window`);
    const formats = await needed(".format");
    hold(formats.every((one) => one.x + one.width <= width), `${what}: a format is beyond the edge`);
    equal(page.trouble, [], "no error");
    await page.context().close();
  }
  await server.stop();
});

test("screens: ids are whole and views beyond the edge are announced on a phone", async () => {
  const pool = path.join(place, "named.jsonl");
  fs.writeFileSync(pool, Array.from({ length: 60 }, (_, i) => JSON.stringify({ id: `img${String(i).padStart(4, "0")}-from-the-second-survey.jpg`, text: `a text number ${i}` })).join("\n"));
  let server = await serve(project("named", pool, "--classes", "one,two"));
  for (let i = 0; i < 6; i++) await server.post("decisions", { key: `k${i}`, decisions: [{ kind: "label", item: (await server.post("next", {})).items[0].id, classes: [{ class: i % 2 }] }] });
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_ready && now.model_version === now.version; });
  let page = await open(server, { viewport: { width: 390, height: 844 } });
  await page.goto(`${server.origin}/#export`);
  await page.waitForSelector(".export-view td");
  const heights = await page.locator(".export-view tbody td:first-child").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  hold(Math.max(...heights) < 45, `rows of ${Math.max(...heights)} pixels`);
  await page.context().close();
  await server.stop();
  server = await serve(project("edge", "builtin:scene"));
  page = await open(server, { viewport: { width: 390, height: 844 } });
  await page.waitForSelector(".item .chart");
  const tabs = page.locator("#tabs");
  await until("a fade at the right", () => tabs.evaluate((one) => one.dataset.after === "true" && one.dataset.before === "false" && getComputedStyle(one).maskImage.includes("gradient")));
  await page.evaluate(() => { location.hash = "#export"; });
  await until("then at the left", () => tabs.evaluate((one) => one.dataset.after === "false" && one.dataset.before === "true" && getComputedStyle(one).maskImage.includes("gradient")));
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});
