// What the page says of pools that are described without a model; and that the commands it gives do what it says.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { browserOf, dial, equal, folder, hold, open, run, serve, test, until } from "./harness.mjs";

const place = folder();

function project(name, ...args) {
  const made = path.join(place, `${name}.dial`);
  run("new", ...args, "--project", made);
  return made;
}

const WORDS = ["match", "goal", "team", "recipe", "oven", "butter"];
const TEXTS = Array.from({ length: 60 }, (_, i) => ({ id: `t${i}`, text: Array.from({ length: 4 }, (_, k) => WORDS[3 * (i % 2) + ((i + k * k) % 3)]).join(" ") + ` ${i}` }));

/** Texts in a file whose name needs quotes in a shell. */
function texts(name) {
  const file = path.join(place, name);
  fs.writeFileSync(file, TEXTS.map((row) => JSON.stringify(row)).join("\n"));
  return file;
}

/** A model of word vectors: a length, a header of JSON, and two numbers for each word. */
function model(name) {
  const at = path.join(place, name);
  fs.mkdirSync(at);
  const vocab = Object.fromEntries(["[UNK]", ...WORDS].map((word, token) => [word, token]));
  fs.writeFileSync(path.join(at, "tokenizer.json"), JSON.stringify({ version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: { type: "Whitespace" }, post_processor: null, decoder: null,
    model: { type: "WordLevel", vocab, unk_token: "[UNK]" } }));
  const table = new Float32Array([0, 0, 1, 0, 1, 0.1, 1, 0.2, 0, 1, 0.1, 1, 0.2, 1]);
  const header = Buffer.from(JSON.stringify({ embeddings: { dtype: "F32", shape: [table.length / 2, 2], data_offsets: [0, 4 * table.length] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  fs.writeFileSync(path.join(at, "model.safetensors"), Buffer.concat([length, header, Buffer.from(table.buffer)]));
}

/** Small pictures of two kinds. */
async function pictures(name) {
  const at = path.join(place, name);
  fs.mkdirSync(at);
  const page = await (await browserOf()).newPage();
  for (let i = 0; i < 24; i++) {
    const data = await page.evaluate((n) => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 30 });
      const draw = canvas.getContext("2d");
      draw.fillStyle = n % 2 ? "#c33" : "#36c";
      draw.fillRect(0, 0, 40, 30);
      draw.fillStyle = "#fff";
      draw.fillRect(n, 5, 6, 20);
      return canvas.toDataURL("image/png").split(",")[1];
    }, i);
    fs.writeFileSync(path.join(at, `${String(i).padStart(2, "0")}.png`), Buffer.from(data, "base64"));
  }
  await page.context().close();
  return at;
}

const hint = (page) => page.locator(".model-hint");
const to = async (page, view, wait) => {
  await page.evaluate((hash) => { location.hash = hash; }, view);
  await page.waitForSelector(wait);
};
/** Runs the first of the commands that the dialog gives last, as somebody would who types it beside the project. */
function typed(page_commands) {
  const [line] = page_commands.trim().split("\n");
  execFileSync("bash", ["-c", line], { cwd: place, env: { ...process.env, PATH: `${path.dirname(dial)}:${process.env.PATH}` }, stdio: ["ignore", "ignore", "inherit"] });
}

test("models: texts without one are offered one, where people look, until it is dismissed; the commands do it", async () => {
  const made = project("Ann's notes", texts("Ann's notes.jsonl"), "--classes", "sport,food");
  let server = await serve(made);
  const page = await open(server);
  await page.waitForSelector(".item .shown.text");
  equal((await server.get("project")).without_model, true, "the interface says so");
  hold((await hint(page).textContent()).includes("described by their words alone"), await hint(page).textContent());
  // It stands beside the item and takes nothing from it: the keys are for the item.
  const id = await page.locator(".item > footer bdi").first().textContent();
  await page.keyboard.press("1");
  await until("an answer", async () => (await server.get(`item?id=${id}`)).labels.length === 1);
  await to(page, "#progress", ".model-hint");
  await page.click(".model-hint >> text=Learn more");
  await page.waitForSelector("dialog .commands");
  const commands = await page.locator("dialog .commands pre").allTextContents();
  equal(commands.length, 2, "commands");
  hold(commands[0].includes("model2vec") && commands[1].includes("--embed words"), commands.join("\n"));
  await page.keyboard.press("Escape");
  await page.click(".model-hint >> text=Dismiss");
  equal(await hint(page).count(), 0, "it is gone");
  await to(page, "#label", ".item .shown.text");
  equal(await hint(page).count(), 0, "everywhere");
  await page.reload();
  await page.waitForSelector(".item .shown.text");
  await to(page, "#progress", ".figure");
  equal(await hint(page).count(), 0, "for good");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
  // Somebody else, who has dismissed nothing, types the commands.
  model("words");
  typed(commands[1]);
  server = await serve(made);
  const other = await open(server);
  await other.waitForSelector(".item .shown.text");
  equal([(await server.get("project")).without_model, (await server.get("project")).labelled], [false, 1], "without a model, labels");
  equal(await hint(other).count(), 0, "nothing to offer");
  await to(other, "#progress", ".figure");
  equal(await hint(other).count(), 0, "nor here");
  equal(other.trouble, [], "no error");
  await other.context().close();
  await server.stop();
});

test("models: pictures are offered one too; it goes once they have features of their own", async () => {
  const made = project("photos", await pictures("photos"), "--classes", "red,blue");
  let server = await serve(made);
  const page = await open(server, { viewport: { width: 390, height: 844 } });
  await page.waitForSelector(".item img");
  await to(page, "#progress", ".model-hint");
  hold((await hint(page).textContent()).includes("edges, light and colours"), await hint(page).textContent());
  await page.click(".model-hint >> text=Learn more");
  await page.waitForSelector("dialog .commands");
  const commands = await page.locator("dialog .commands pre").allTextContents();
  hold(commands[0].includes(JSON.stringify(path.join(place, "photos"))), commands[0]);
  equal(await page.evaluate(() => { const one = document.querySelector("dialog[open]"); return one.scrollWidth - one.clientWidth; }), 0, "the dialog fits a phone");
  await page.context().close();
  await server.stop();
  run("generate", "clusters", "--items", "24", "--dim", "6", "--out", path.join(place, "features.npz"));
  typed(commands[1]);
  server = await serve(made);
  equal((await server.get("project")).without_model, false, "without a model");
  await server.stop();
});

test("models: what is no text and no picture, and what has features, is left alone", async () => {
  const table = path.join(place, "table.csv");
  fs.writeFileSync(table, `x,y\n${Array.from({ length: 40 }, (_, i) => `${i % 2},${i / 40}`).join("\n")}\n`);
  const features = path.join(place, "given.npy");
  run("generate", "clusters", "--items", "60", "--dim", "6", "--out", features);
  for (const args of [["builtin:digits:100"], [table], ["builtin:scene:256"], [texts("given.jsonl"), "--features", features]]) {
    const server = await serve(project(`left-${path.basename(args[0]).replaceAll(":", "-")}`, ...args, "--classes", "a,b"));
    equal((await server.get("project")).without_model, false, args.join(" "));
    await server.stop();
  }
});
