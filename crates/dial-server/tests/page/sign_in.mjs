// Who is at the other end of the port: another project, another program, or nobody any more; and what a browser keeps.

import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { browserOf, equal, folder, hold, open, run, serve, test, until, watch } from "./harness.mjs";

const place = folder();

function digits(name, ...more) {
  const project = path.join(place, `${name}.dial`);
  run("new", "builtin:digits:300", "--project", project, ...more);
  return project;
}

const asked = (page) => page.locator(".item > footer bdi").first().textContent();
const saved = (page) => until("everything is saved", async () => (await page.textContent("#saved")) === "Saved");
const waiting = async (page) => Number(await page.locator("#saved").getAttribute("data-waiting"));
const labelled = async (server) => (await server.get("project")).labelled;

test("answers for one project are not taken by another on the same port", async () => {
  const [first, second] = [digits("first"), digits("second", "--classes", "cat,dog")];
  let server = await serve(first);
  const { port } = server;
  const page = await open(server);
  await page.waitForSelector(".item img");
  await server.stop();
  const item = await asked(page);
  await page.keyboard.press("1");
  await until("it waits", async () => (await waiting(page)) === 1);
  // The same port, and somebody signs in to the other project in another tab of this browser.
  server = await serve(second, port);
  const other = await page.context().newPage();
  watch(other);
  await other.goto(server.link);
  await other.waitForSelector(".item img");
  await page.waitForSelector(".elsewhere");
  hold((await page.textContent(".elsewhere")).includes("belongs to first"), "it says whose page it is");
  equal(await page.textContent("#name"), "first", "the page stays what it was");
  await page.keyboard.press("0");
  await page.waitForTimeout(2500);
  equal([await waiting(page), await labelled(server)], [1, 0], "waiting, stored elsewhere");
  // The page of the other project works meanwhile.
  await other.keyboard.press("1");
  await saved(other);
  equal(await labelled(server), 1, "stored by the other page");
  await server.stop();
  server = await serve(first, port);
  await saved(page);
  await until("the page goes on", async () => (await page.locator(".elsewhere").count()) === 0);
  equal((await server.get(`item?id=${item}`)).labels[0].classes[0].class, 1, "it is saved where it belongs");
  equal([page.trouble, other.trouble], [[], []], "no error");
  await page.context().close();
  await server.stop();
});

for (const way of ["restored", "copied"]) {
  test(`answers for one project are not taken by a copy of it, ${way}, on the same port`, async () => {
    const first = digits(`first-${way}`);
    const copy = path.join(place, `copy-${way}.dial`);
    let server = await serve(first);
    const { port } = server;
    const page = await open(server);
    await page.waitForSelector(".item img");
    if (way === "restored") {
      const backup = path.join(place, "first.dialbackup");
      run("backup", first, "--out", backup);
      await server.stop();
      run("restore", backup, "--project", copy);
    } else {
      await server.stop();
      fs.cpSync(first, copy, { recursive: true });
    }
    const item = await asked(page);
    await page.keyboard.press("1");
    await until("it waits", async () => (await waiting(page)) === 1);
    server = await serve(copy, port);
    const other = await page.context().newPage();
    watch(other);
    await other.goto(server.link);
    await other.waitForSelector(".item img");
    await page.waitForSelector(".elsewhere");
    hold((await page.textContent(".elsewhere")).includes("copy"), "it says what is here");
    await page.keyboard.press("0");
    await page.waitForTimeout(2500);
    equal([await waiting(page), await waiting(other), await labelled(server)], [1, 0, 0], "waiting, shown by the copy, stored there");
    // The page of the copy works meanwhile, also when it is read anew.
    await other.reload();
    await other.waitForSelector(".item img");
    await other.keyboard.press("2");
    await saved(other);
    equal([await waiting(page), await labelled(server)], [1, 1], "waiting, stored by the other page");
    await server.stop();
    server = await serve(first, port);
    await saved(page);
    await until("the page goes on", async () => (await page.locator(".elsewhere").count()) === 0);
    equal((await server.get(`item?id=${item}`)).labels[0].classes[0].class, 1, "it is saved where it belongs");
    equal([page.trouble, other.trouble], [[], []], "no error");
    await page.context().close();
    await server.stop();
  });
}

test("a page goes on when a backup takes the place of its project", async () => {
  const project = digits("replaced");
  const backup = path.join(place, "replaced.dialbackup");
  let server = await serve(project);
  const page = await open(server);
  await page.waitForSelector(".item img");
  run("backup", project, "--out", backup);
  await server.stop();
  await page.keyboard.press("1");
  await until("it waits", async () => (await waiting(page)) === 1);
  run("restore", backup, "--project", project, "--replace");
  // The same port without being told.
  const { port } = server;
  server = await serve(project);
  equal(server.port, port, "port");
  await until("it is signed out", async () => (await page.textContent("#saved")) === "Signed out");
  const other = await page.context().newPage();
  watch(other);
  await other.goto(server.link);
  await saved(page);
  equal([await labelled(server), page.trouble], [1, []], "stored, errors");
  await page.context().close();
  await server.stop();
});

/** Another program at the port: remembers what it is sent, and answers as it is told. */
async function impostor(port, answer) {
  const seen = [];
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (bytes) => { body += bytes; });
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      const [status, text] = answer(request.url);
      response.writeHead(status, { "content-type": status < 400 ? "application/json" : "application/problem+json", "x-dial-proof": "0".repeat(64) });
      response.end(JSON.stringify(text));
    });
  });
  await new Promise((resolve, reject) => { server.once("error", reject); server.listen(port, "127.0.0.1", resolve); });
  return { seen, stop: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}

test("another program on the port acknowledges nothing, refuses nothing, and learns nothing it can use", async () => {
  const project = digits("impostor");
  let server = await serve(project);
  const { port } = server;
  const page = await open(server);
  await page.waitForSelector(".item img");
  const hello = await (await fetch(`${server.origin}/hello`)).json();
  const info = await server.get("project");
  const stored = { seq: 9, group: 9, count: 1, repeated: false, version: 9 };
  const refusal = { type: "urn:dial:error:C5", title: "Conflict", status: 409, detail: "no", code: "C5", exit: 6 };
  let mode = "takes";
  const lie = (url) => (url === "/hello" ? [200, hello] : url.endsWith("/project") ? [200, info] : mode === "takes" ? [200, stored] : [409, refusal]);
  await server.stop();
  const other = await impostor(port, lie);
  await page.keyboard.press("1");
  for (mode of ["takes", "refuses"]) {
    const before = other.seen.length;
    await until("it is asked", () => other.seen.length > before + 3);
    equal(await waiting(page), 1, `${mode}: what waits`);
    hold((await page.textContent("#saved")) !== "Saved", `${mode}: nothing is saved`);
  }
  hold((await page.textContent("#banner")).includes("cannot prove"), await page.textContent("#banner"));
  equal(other.seen.filter((one) => one.url.endsWith("/decisions")).length <= 1, true, "once it was not believed, no answer is sent to it again");
  // A page that is read anew from it, or from any other port, gives it no cookie either.
  equal(other.seen.filter((one) => one.headers.cookie).length, 0, "cookies");
  await other.stop();
  server = await serve(project, port);
  for (const { method, url, headers, body } of other.seen) {
    if (!url.startsWith("/api/")) continue;
    const { authorization, "x-dial": id, "x-dial-place": at } = headers;
    const again = await fetch(`${server.origin}${url}`, { method, headers: { authorization, "x-dial": id, "x-dial-place": at, "content-type": "application/json" }, body: body || undefined });
    equal(again.status, 401, `${method} ${url} sent again`);
  }
  await saved(page);
  equal(await labelled(server), 1, "it is saved by the real one");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("what a browser shows to another port opens nothing here", async () => {
  const server = await serve(digits("ports"));
  const page = await open(server);
  const seen = [];
  const elsewhere = http.createServer((request, response) => { seen.push(request.headers); response.end("<p>hello</p>"); });
  await new Promise((resolve) => { elsewhere.listen(0, "127.0.0.1", resolve); });
  const visit = await page.context().newPage();
  await visit.goto(`http://127.0.0.1:${elsewhere.address().port}/`);
  hold(seen.length > 0, "it was visited");
  for (const headers of seen) {
    const answer = await fetch(`${server.origin}/api/v1/project`, { headers: headers.cookie ? { cookie: headers.cookie } : {} });
    equal(answer.status, 401, "with what it was shown");
  }
  elsewhere.close();
  await page.context().close();
  await server.stop();
});

test("a session outlives a reload, goes to new tabs, and is in no address", async () => {
  const project = digits("tabs-in");
  let server = await serve(project);
  const page = await open(server);
  hold(!page.url().includes("launch") && !page.url().includes(server.link.split("=")[1]), page.url());
  await page.reload();
  await page.waitForSelector(".item img");
  const tab = await page.context().newPage();
  watch(tab);
  await tab.goto(server.origin);
  await tab.waitForSelector(".item img");
  const extractable = await page.evaluate(() => new Promise((resolve) => {
    const request = indexedDB.open("dial-session");
    request.onsuccess = () => { const all = request.result.transaction("sessions").objectStore("sessions").getAll(); all.onsuccess = () => resolve(all.result.map((one) => one.key.extractable)); };
  }));
  equal(extractable, [false], "no script can read the key");
  // A restart signs nobody out.
  await server.stop();
  server = await serve(project, server.port);
  await tab.waitForTimeout(2500);
  await tab.keyboard.press("1");
  await saved(tab);
  equal(await labelled(server), 1, "saved after a restart");
  // Another browser knows nothing, and is told what to do.
  const stranger = await browserOf();
  const out = await stranger.newPage();
  await out.goto(server.origin);
  await until("it says so", async () => (await out.textContent("#main")).includes("Run dial label again"));
  // A link that is pasted into that very tab signs it in.
  await out.goto(server.link);
  await out.waitForSelector(".item img");
  equal([page.trouble, tab.trouble], [[], []], "no error");
  await stranger.close();
  await page.context().close();
  await server.stop();
});

test("the file that opens a browser leads to a page that is signed in", async () => {
  const server = await serve(digits("file"));
  const file = await server.post("launch", { file: true });
  const page = await (await browserOf()).newPage();
  watch(page);
  await page.goto(`file://${file}`);
  await page.waitForSelector(".item img");
  hold(page.url().startsWith(server.origin) && !page.url().includes("launch"), page.url());
  hold(!fs.existsSync(file), "the file is gone");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("browsers are listed, ended, and signed out", async () => {
  const server = await serve(digits("out"));
  const page = await open(server);
  await page.waitForSelector(".item img");
  const other = await open({ ...server, link: await server.post("launch", {}) });
  await page.click("#person");
  await until("both are listed", async () => (await page.locator(".browsers li").count()) === 2);
  hold((await page.textContent(".browsers")).includes("this one"), "one of them is this one");
  await page.click(".browsers >> text=End all others");
  await until("one is left", async () => (await page.locator(".browsers li").count()) === 1);
  await other.keyboard.press("1");
  await until("the other is out", async () => (await other.textContent("#saved")) === "Signed out");
  equal(await waiting(other), 1, "its answer waits");
  await page.click(".browsers >> text=Sign out");
  await until("this one is out", async () => (await page.textContent("#main")).includes("Run dial label again"));
  equal((await server.get("sessions")).length, 0, "sessions");
  await page.reload();
  await until("and stays out", async () => (await page.textContent("#main")).includes("Run dial label again"));
  // What waited is sent once the other signs in again.
  await other.goto(`${server.origin}/#label`);
  await other.goto(await server.post("launch", {}));
  await until("what waited is saved", async () => (await labelled(server)) === 1);
  equal([page.trouble, other.trouble], [[], []], "no error");
  await page.context().close();
  await other.context().close();
  await server.stop();
});

test("a service worker that another program left on the port is removed", async () => {
  const project = digits("worker");
  let server = await serve(project);
  const { port } = server;
  await server.stop();
  const other = http.createServer((request, response) => {
    const script = request.url === "/worker.js";
    response.writeHead(200, { "content-type": script ? "text/javascript" : "text/html" });
    response.end(script ? "addEventListener('install', () => skipWaiting()); addEventListener('activate', (event) => event.waitUntil(clients.claim())); addEventListener('fetch', (event) => { if (event.request.mode === 'navigate') event.respondWith(new Response('<p id=theirs>theirs</p>', { headers: { 'content-type': 'text/html' } })); });"
      : "<p>theirs</p><script>navigator.serviceWorker.register('/worker.js')</script>");
  });
  await new Promise((resolve) => { other.listen(port, "127.0.0.1", resolve); });
  server = { origin: `http://127.0.0.1:${port}` };
  const page = await (await browserOf()).newPage();
  await page.goto(server.origin);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.goto(server.origin);
  await page.waitForSelector("#theirs");
  other.closeAllConnections();
  await new Promise((resolve) => { other.close(resolve); });
  server = await serve(project, port);
  await page.goto(server.origin);
  await until("the page of the real server", async () => (await page.textContent("body").catch(() => "")).includes("Run dial label again"));
  await page.goto(server.link);
  await page.waitForSelector("#tabs a");
  equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0, "workers");
  await page.context().close();
  await server.stop();
});
