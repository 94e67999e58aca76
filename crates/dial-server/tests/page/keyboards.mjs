// Keyboards of the world, and keys that are pressed while items change.
//
// The events are those that Chromium sends for the layouts (key is what the layout makes of the key, code is its place): AltGr is
// Ctrl and Alt on Windows, a modifier of its own on Linux, and Option on a Mac.

import fs from "node:fs";
import path from "node:path";
import { asked, atOnce, equal, folder, hold, open, ready, run, serve, test, until } from "./harness.mjs";

const place = folder();

function digits(name, ...more) {
  const project = path.join(place, `${name}.dial`);
  run("new", "builtin:digits:300", "--project", project, ...more);
  return project;
}

/** The live labels of an item, as pairs of class and weight. */
const said = async (server, id) => (await server.get(`item?id=${id}`)).labels.flatMap((one) => one.classes.map((share) => [share.class, share.weight]));

/** Sends a key as a browser would; what is focused gets it. */
const send = (page, event) => page.evaluate((given) => {
  const { keyCode = 0, ...rest } = given;
  const made = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...rest });
  if (keyCode) Object.defineProperty(made, "keyCode", { value: keyCode });
  (document.activeElement ?? document.body).dispatchEvent(made);
}, event);

const shift = (key, code) => ({ key, code, shiftKey: true });
const windows = (key, code) => ({ key, code, ctrlKey: true, altKey: true, modifierAltGraph: true });
const review = (key, code) => ({ key, code, ctrlKey: true, altKey: true });
const linux = (key, code) => ({ key, code, modifierAltGraph: true });
const mac = (key, code) => ({ key, code, altKey: true });
const none = (key, code = key) => ({ key, code });

/** What every keyboard has. */
const EVERYWHERE = { help: [none("F1")], add: [none("F2")], find: [none("F3")], zoom: [none("F4")], before: [shift("ArrowLeft", "ArrowLeft")], after: [shift("ArrowRight", "ArrowRight")],
  undo: [none("Backspace"), { key: "z", code: "KeyZ", ctrlKey: true }, { key: "z", code: "KeyZ", metaKey: true }], redo: [shift("Backspace", "Backspace"), { key: "y", code: "KeyY", ctrlKey: true }],
  skip: [none(" ", "Space")], exclude: [none("Delete")], unsure: [none("Enter"), none("Enter", "NumpadEnter")] };
const row = (...keys) => Object.fromEntries(keys.map((key, i) => [`Digit${(i + 1) % 10}`, key]));

/** Layouts: signs of commands, the top row with and without Shift, and letters that stand elsewhere. */
const LAYOUTS = {
  US: { commands: { help: [shift("?", "Slash")], add: [shift("+", "Equal"), none("+", "NumpadAdd")], find: [none("/", "Slash"), none("/", "NumpadDivide")], zoom: [none("=", "Equal")], before: [none("[", "BracketLeft")], after: [none("]", "BracketRight")] },
    plain: row(..."1234567890"), shifted: row(..."!@#$%^&*()"), letters: { q: "KeyQ", w: "KeyW", e: "KeyE", r: "KeyR" } },
  "US international": { commands: { help: [shift("?", "Slash")] }, plain: row(..."1234567890"), shifted: row("!", "@", "#", "$", "%", "Dead", "&", "*", "(", ")"), letters: { q: "KeyQ" } },
  German: { commands: { help: [shift("?", "Minus")], add: [none("+", "BracketRight")], before: [windows("[", "Digit8"), review("[", "Digit8"), linux("[", "Digit8"), mac("[", "Digit5")], after: [windows("]", "Digit9"), review("]", "Digit9"), linux("]", "Digit9"), mac("]", "Digit6")], undo: [{ key: "z", code: "KeyY", ctrlKey: true }] },
    plain: row(..."1234567890"), shifted: row(..."!\"§$%&/()="), letters: { q: "KeyQ", w: "KeyW", e: "KeyE", r: "KeyR" }, nothing: [linux("@", "KeyQ"), windows("€", "KeyE"), windows("{", "Digit7"), none("ü", "BracketLeft"), none("Dead", "Equal")] },
  French: { commands: { help: [shift("?", "KeyM")], add: [shift("+", "Equal")], find: [shift("/", "Period")], zoom: [none("=", "Equal")], before: [windows("[", "Digit5")], after: [windows("]", "Minus")], undo: [{ key: "z", code: "KeyW", ctrlKey: true }] },
    plain: row("&", "é", "\"", "'", "(", "-", "è", "_", "ç", "à"), shifted: row(..."1234567890"), letters: { q: "KeyA", w: "KeyZ", e: "KeyE", r: "KeyR" }, nothing: [none("ù", "Quote"), windows("@", "Digit0"), none("Dead", "BracketLeft")] },
  Swiss: { commands: { help: [shift("?", "Minus")], before: [windows("[", "BracketLeft")], after: [windows("]", "BracketRight")] },
    plain: row(..."1234567890"), shifted: row("+", "\"", "*", "ç", "%", "&", "/", "(", ")", "="), letters: { q: "KeyQ" } },
  Czech: { commands: { help: [shift("?", "Comma")] }, plain: row("+", "ě", "š", "č", "ř", "ž", "ý", "á", "í", "é"), shifted: row(..."1234567890"), letters: { q: "KeyQ" } },
  Russian: { commands: { add: [shift("+", "Equal")], zoom: [none("=", "Equal")], find: [shift("/", "Backslash")], undo: [{ key: "я", code: "KeyZ", ctrlKey: true }], redo: [{ key: "н", code: "KeyY", ctrlKey: true }] },
    plain: row(..."1234567890"), shifted: row(..."!\"№;%:?*()"), letters: { q: ["KeyQ", "й"], w: ["KeyW", "ц"], e: ["KeyE", "у"], r: ["KeyR", "к"] } },
  Greek: { commands: { help: [shift("?", "Slash")], undo: [{ key: "ζ", code: "KeyZ", ctrlKey: true }] },
    plain: row(..."1234567890"), shifted: row(..."!@#$%^&*()"), letters: { w: ["KeyW", "ς"], e: ["KeyE", "ε"], r: ["KeyR", "ρ"] } },
  Persian: { commands: {}, plain: row(..."۱۲۳۴۵۶۷۸۹۰"), shifted: row(..."!٬٫﷼٪×،*)("), letters: { q: ["KeyQ", "ض"] } },
};

test("keyboards: every command and class is there on every layout, and Shift and a digit is unsure on all of them", async () => {
  const names = Array.from({ length: 14 }, (_, i) => `class ${i + 1}`);
  const server = await serve(digits("layouts", "--classes", names.join(",")));
  const page = await open(server);
  await page.waitForSelector(".item img");
  const keys = (await server.get("project")).classes.map((one) => one.key);
  equal(keys.join(""), "1234567890qwer", "keys of the classes");
  /** What the page makes of events: the command, or the class with a mark for unsure. */
  const meant = (events) => page.evaluate(async (all) => {
    const { commandOf, classOfKey } = await import("/keys.js");
    const { shared } = await import("/state.js");
    return all.map((given) => {
      const event = new KeyboardEvent("keydown", given);
      const found = classOfKey(event, shared.project.classes);
      return commandOf(event) ?? (found ? `${found.known.key}${found.soft ? "?" : ""}` : "nothing");
    });
  }, events);
  for (const [layout, { commands, plain, shifted, letters, nothing = [] }] of Object.entries(LAYOUTS)) {
    const wanted = [];
    for (const [command, events] of [...Object.entries(EVERYWHERE), ...Object.entries(commands)]) for (const event of events) wanted.push([event, command]);
    for (const [code, key] of Object.entries(plain)) wanted.push([none(key, code), code.slice(5)]);
    for (const [code, key] of Object.entries(shifted)) wanted.push([shift(key, code), `${code.slice(5)}?`]);
    for (const [letter, where] of Object.entries(letters)) {
      const [code, key] = Array.isArray(where) ? where : [where, letter];
      wanted.push([none(key, code), letter], [shift(key.toUpperCase(), code), `${letter}?`]);
      // Caps Lock: capitals without Shift, small letters with it.
      wanted.push([{ ...none(key.toUpperCase(), code), modifierCapsLock: true }, letter], [{ ...shift(key, code), modifierCapsLock: true }, `${letter}?`]);
    }
    for (let n = 0; n < 10; n++) wanted.push([none(String(n), `Numpad${n}`), String(n)]);
    for (const event of [...nothing, none("End", "Numpad1"), none("PageUp", "Numpad9"), none("Insert", "Numpad0"), none("ArrowLeft", "Numpad4"), { key: "1", code: "Digit1", ctrlKey: true }, { key: "q", code: "KeyQ", altKey: true },
      { key: "F4", code: "F4", altKey: true }, { key: "1", code: "Digit1", isComposing: true }, { key: "Process", code: "KeyQ" }, { key: "Dead", code: "KeyE" }]) wanted.push([event, "nothing"]);
    const found = await meant(wanted.map(([event]) => event));
    const wrong = wanted.map(([event, what], i) => [JSON.stringify(event), found[i], what]).filter(([, a, b]) => a !== b);
    equal(wrong, [], `${layout}: event, what it does, what it should do`);
  }
  // A letter after a dead key: with its accent, it is that letter still, wherever it stands.
  equal(await meant([none("ê", "KeyE"), none("ŵ", "KeyZ"), shift("Ê", "KeyE")]), ["e", "w", "e?"], "letters with an accent");
  // The same on screen: a German and a French answer unsure, a Swiss new class, and views by AltGr.
  for (const [event, class_] of [[shift("=", "Digit0"), 9], [shift("1", "Digit1"), 0], [shift("/", "Digit7"), 6]]) {
    const id = await asked(page);
    await send(page, event);
    await until("half an answer", async () => JSON.stringify(await said(server, id)) === JSON.stringify([[class_, 0.5]]));
    await until("the next item", async () => (await asked(page)) !== id);
  }
  const id = await asked(page);
  await send(page, none("é", "Digit2"));
  await until("an answer", async () => JSON.stringify(await said(server, id)) === "[[1,1]]");
  await until("the next item", async () => (await asked(page)) !== id);
  await send(page, none("F4"));
  await page.waitForSelector(".frame.zoomed");
  await send(page, none("F2"));
  equal(await page.evaluate(() => document.activeElement?.id), "new-class", "a new class");
  await page.keyboard.press("Escape");
  await send(page, none("F3"));
  equal(await page.evaluate(() => document.activeElement?.getAttribute("type")), "search", "find a class");
  await page.keyboard.press("Escape");
  await send(page, windows("]", "Digit9"));
  await until("the map", () => page.evaluate(() => location.hash === "#map"));
  await send(page, shift("ArrowLeft", "ArrowLeft"));
  await until("and back", () => page.evaluate(() => location.hash === "#label"));
  // The sheet shows both keys of a command; one that is chosen there counts.
  await send(page, none("F1"));
  await page.waitForSelector("dialog[open]");
  const sheet = await page.textContent("dialog table.keys");
  for (const one of ["F1", "F2", "F3", "F4", "Shift+←", "Shift+→", "Ctrl+Z", "PageDown"]) hold(sheet.includes(one), `${one} is not on the sheet`);
  await page.click("dialog [data-command=zoom]");
  await send(page, { key: "AltGraph", code: "AltRight", modifierAltGraph: true });
  await send(page, none("Dead", "Equal"));
  await send(page, linux("€", "KeyE"));
  await until("the new key", async () => (await page.textContent("dialog [data-command=zoom]")) === "€");
  await page.keyboard.press("Escape");
  equal(await meant([linux("€", "KeyE"), none("=", "Equal"), none("F4")]), ["zoom", "nothing", "zoom"], "after the change");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("keyboards: nothing fires while somebody types or composes", async () => {
  const server = await serve(digits("composing", "--classes", Array.from({ length: 14 }, (_, i) => `class ${i + 1}`).join(",")));
  const page = await open(server);
  await page.waitForSelector(".item img");
  const item = await asked(page);
  await page.focus("#new-class");
  for (const key of ["1", " ", "Delete", "Backspace", "?", "]", "Enter"]) await send(page, { key, code: "Digit1" });
  await page.focus(".find input");
  await page.keyboard.type("class 1");
  // The Enter that ends a composition chooses nothing yet; neither does one with the code that input methods send.
  await send(page, { key: "Enter", code: "Enter", isComposing: true });
  await send(page, { key: "Enter", code: "Enter", keyCode: 229 });
  await send(page, { key: "Escape", code: "Escape", isComposing: true });
  equal(await page.inputValue(".find input"), "class 1", "what was typed");
  await page.evaluate(() => document.activeElement.blur());
  for (const event of [{ key: "1", code: "Digit1", isComposing: true }, { key: "Process", code: "Digit1" }, { key: "1", code: "Digit1", keyCode: 229 }, { key: " ", code: "Space", isComposing: true }]) await send(page, event);
  await page.waitForTimeout(500);
  equal([await asked(page), (await server.get("project")).labelled, await page.locator("dialog[open]").count()], [item, 0, 0], "the item, its labels, dialogs");
  // Then it is chosen.
  await page.focus(".find input");
  await page.keyboard.press("Enter");
  await until("the class", async () => JSON.stringify(await said(server, item)) === "[[0,1]]");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

/** A line on which every answer of the server to a path takes so long. */
const slow = (page, where, time) => page.route(`**/api/v1/${where}*`, async (route) => {
  await new Promise((resolve) => setTimeout(resolve, time));
  await route.continue().catch(() => {});
});

test("while items change: the last class that is said about an item counts, and a double press is one", async () => {
  const server = await serve(digits("change"));
  const page = await open(server);
  await page.waitForSelector(".item img");
  await page.waitForTimeout(500);
  // Twice the same key, as fast as fingers or a worn key do it: one label, and the next item has none.
  for (const pause of [0, 20, 60, 85]) {
    let [id, before, apart] = ["", 0, Infinity];
    // On a busy machine the second press may come later than it should: then the item has gone, and it is tried again.
    for (let tries = 0; apart >= 98 && tries < 50; tries++) {
      id = await ready(page);
      before = (await server.get("project")).labelled;
      apart = await page.evaluate(async (wait) => {
        const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "3", code: "Digit3", bubbles: true, cancelable: true }));
        const start = performance.now();
        press();
        while (performance.now() - start < wait) await new Promise((resolve) => setTimeout(resolve, 1));
        const after = performance.now() - start;
        press();
        return after;
      }, pause);
      await until("the next item", async () => (await asked(page)) !== id);
      await page.waitForTimeout(400);
    }
    equal((await server.get("project")).labelled, before + 1, `labels after a double press, ${pause} ms apart`);
    equal(await said(server, id), [[3, 1]], "the answer");
  }
  // Another class before the next item is there: it corrects the one that was pressed by mistake.
  for (const time of [0, 250]) {
    if (time) await slow(page, "next", time);
    const id = await ready(page);
    await atOnce(page, "3", "5");
    const next = await until("the next item", async () => { const now = await asked(page); return now !== id && now; });
    await until("the correction", async () => JSON.stringify(await said(server, id)) === "[[5,1]]");
    equal(await said(server, next), [], "nothing was said of the item that came");
    equal(await page.locator(".trail li").first().getAttribute("title"), `${id}: 5`, "the trail");
    hold((await page.textContent("#live")).includes(`${id} is 5`), "it is said aloud");
    // One undo takes back what was meant, and not the slip alone; one redo brings it again.
    await page.waitForTimeout(300);
    await page.keyboard.press("Backspace");
    await until("it is back", async () => (await asked(page)) === id && !(await page.locator(".item.leaving").count()));
    equal(await said(server, id), [], "nothing is said of it");
    await page.keyboard.press("Shift+Backspace");
    await until("it came again", async () => JSON.stringify(await said(server, id)) === "[[5,1]]");
    await until("another item", async () => (await asked(page)) !== id);
  }
  equal((await server.get("project")).conflicts, 0, "nothing contradicts itself");
  // What cannot be about the last item is not taken, and that is said.
  const id = await ready(page);
  await atOnce(page, "4", " ");
  await until("it is said", async () => (await page.textContent("#toasts")).startsWith("Skip: pressed before the next item was there"));
  const next = await until("the next item", async () => { const now = await asked(page); return now !== id && now; });
  equal([(await server.get("history?limit=50")).rows.filter((one) => one.kind === "skip").length, await said(server, id)], [0, [[4, 1]]], "skips, and the answer");
  // Unsure decides nothing: it opens with the next item.
  await atOnce(page, "2", "Enter");
  await until("the next item", async () => (await asked(page)) !== next);
  await until("it is unsure", async () => (await page.textContent(".deeds")).includes("Unsure: choose"));
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("while items change: undo means the last answer, and a class after it the item that comes back", async () => {
  const server = await serve(digits("back"));
  const page = await open(server);
  await page.waitForSelector(".item img");
  await page.waitForTimeout(500);
  for (const time of [0, 200]) {
    if (time) { await slow(page, "next", time); await slow(page, "item", time); }
    const id = await ready(page);
    const undone = async () => (await server.get("history?limit=100")).rows.filter((one) => one.kind === "undo").length;
    const before = await undone();
    await atOnce(page, "3", "Backspace");
    await until("it is taken back", async () => (await undone()) === before + 1);
    await until("it is on screen", async () => (await asked(page)) === id && (await page.locator(".item.leaving").count()) === 0);
    equal(await said(server, id), [], "nothing is said of it");
    // A slip that is seen late: the next item is on screen already.
    await page.keyboard.press("3");
    const next = await until("the next item", async () => { const now = await asked(page); return now !== id && now; });
    await atOnce(page, "Backspace", "5");
    await until("the right class", async () => JSON.stringify(await said(server, id)) === "[[5,1]]");
    equal(await said(server, next), [], "nothing was said of the item in between");
    const other = await until("another item", async () => { const now = await ready(page); return now !== id && now; });
    // A class that waits for an undo, and is taken back at once: the label before it stays.
    await page.keyboard.press("3");
    await until("the item after it", async () => { const now = await asked(page); return now !== other && now; });
    const undos = await undone();
    await atOnce(page, "Backspace", "5", "Backspace");
    await until("one undo", async () => (await undone()) === undos + 1 && (await asked(page)) === other && (await page.locator(".item.leaving").count()) === 0);
    await page.waitForTimeout(500);
    equal([await undone(), await said(server, other), await said(server, id)], [undos + 1, [], [[5, 1]]], "one label is taken back");
  }
  equal((await server.get("project")).conflicts, 0, "nothing contradicts itself");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

/** A line on which every answer of the server to a path comes so late, and is as old. */
const late = (page, where, time) => page.route(`**/api/v1/${where}*`, async (route) => {
  const response = await route.fetch();
  await new Promise((resolve) => setTimeout(resolve, time));
  await route.fulfill({ response }).catch(() => {});
});

test("while items change: what an undo brings back stays, though another item is on its way", async () => {
  const server = await serve(digits("stays"));
  const page = await open(server);
  for (const path_ of ["next", "item"]) {
    const id = await ready(page);
    // Another tab of the same person answers the item on screen: this one asks for another, which takes its time.
    await page.unroute("**/api/v1/next*");
    await late(page, path_, 1500);
    const { labelled } = await server.get("project");
    await server.post("decisions", { key: `stays ${path_}`, decisions: [{ kind: "label", item: id, classes: [{ class: 3, weight: 1 }] }] });
    await until("the page knows", async () => (await page.textContent("#count")).startsWith(`${labelled + 1} of`));
    await page.waitForTimeout(500);
    await page.unroute("**/api/v1/item*");
    await page.keyboard.press("Backspace");
    await until("it is taken back", async () => (await server.get("project")).labelled === labelled);
    await until("it is on screen", async () => (await ready(page)) === id);
    await page.waitForTimeout(2500);
    equal(await ready(page), id, `${path_} comes late: the item on screen`);
  }
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("while items change: in Review a key that comes too soon is told", async () => {
  const server = await serve(digits("review-soon", "--overlap", "2"));
  for (const id of ["11", "12"]) for (const [who, class_] of [["ann", 0], ["bob", 1]]) await server.post("decisions", { key: `${who} ${id}`, annotator: who, decisions: [{ kind: "label", item: id, classes: [{ class: class_ }] }] });
  const page = await open(server);
  await page.goto(`${server.origin}/#review`);
  await page.click("role=tab[name=Disagreements]");
  await page.waitForSelector(".doubt .frame img");
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_version === now.version; });
  await page.waitForTimeout(500);
  await slow(page, "item", 500);
  await atOnce(page, "3", "4");
  await until("it is told", async () => (await page.textContent("#toasts")).includes("4: pressed before the next item was there"));
  const all = async () => [...await said(server, "11"), ...await said(server, "12")].map(([class_]) => class_).sort();
  await until("the first answer, and nothing else", async () => JSON.stringify(await all()) === "[0,0,1,1,3]");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("while items change: nothing is said of a photo before it is seen", async () => {
  const pool = path.join(place, "seen");
  fs.mkdirSync(pool);
  const made = digits("for-pictures");
  const source = await serve(made);
  const token = JSON.parse(fs.readFileSync(path.join(made, "server.json"), "utf8"));
  for (let i = 0; i < 60; i++) {
    const answer = await fetch(`${source.origin}/api/v1/media?id=${i}`, { headers: { authorization: `Bearer ${token.token}`, "x-dial": token.project } });
    fs.writeFileSync(path.join(pool, `${String(i).padStart(2, "0")}.png`), Buffer.from(await answer.arrayBuffer()));
  }
  await source.stop();
  const project = path.join(place, "seen.dial");
  run("new", pool, "--classes", "cat,dog", "--project", project);
  const server = await serve(project);
  const page = await open(server);
  await page.waitForSelector(".item img");
  // No other photo comes before it may, however slow the machine is; the page waits five seconds for one.
  let [first, release] = ["", () => {}];
  const released = new Promise((resolve) => { release = resolve; });
  // What was on its way for the page before is no photo of this one.
  await page.goto("about:blank");
  await page.route("**/api/v1/media*", async (route) => {
    const id = new URL(route.request().url()).searchParams.get("id");
    first ||= id;
    if (id !== first) await released;
    await route.fallback();
  });
  await page.goto(server.origin);
  await page.waitForSelector(".item .frame img");
  await until("the photo", () => page.locator(".item .frame img").evaluate((one) => one.complete && one.naturalWidth > 0));
  const id = await asked(page);
  equal(id, first, "the photo that may come");
  await page.keyboard.press("1");
  await page.waitForTimeout(350);
  // The next photo is on its way: what is on screen is the last one, and the key is about it.
  equal(await asked(page), id, "the item on screen");
  await page.keyboard.press("2");
  release();
  const next = await until("the next item", async () => { const now = await asked(page); return now !== id && now; });
  equal(await page.locator(".item .frame img").evaluate((one) => one.complete && one.naturalWidth > 0), true, "its photo is there at once");
  await until("the correction", async () => JSON.stringify(await said(server, id)) === "[[1,1]]");
  equal(await said(server, next), [], "nothing was said of the next one");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});
