// What the page exports: a preview that is what the file holds, files named after the project, and a decision between people.

import fs from "node:fs";
import path from "node:path";
import { equal, folder, hold, open, run, serve, test, until } from "./harness.mjs";

const place = folder();
let keys = 0;
const decide = (server, annotator, ...decisions) => server.post("decisions", { key: `exports ${keys++}`, annotator, decisions });
const label = (item, id, weight = 1) => ({ kind: "label", item: String(item), classes: [{ class: id, weight }] });

/** The rows of a file that a button hands out, and its name. */
async function download(page, format) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(`.format[data-format=${format}]`)]);
  return { name: file.suggestedFilename(), text: fs.readFileSync(await file.path(), "utf8") };
}

test("an export has clean classes, the columns of the pool, and the name of the project", async () => {
  const pool = path.join(place, "Größe.csv");
  fs.writeFileSync(pool, `colour,x,label\n${Array.from({ length: 30 }, (_, row) => `${row % 2 ? "red" : "blue"},${row < 15 ? row : row + 50},`).join("\n")}\n`);
  const project = path.join(place, "Größe.dial");
  run("new", pool, "--project", project, "--classes", "low,high", "--k", "4");
  const server = await serve(project);
  await decide(server, "ann", label(0, 0), label(20, 1));
  await decide(server, "ann", label(3, 0, 0.5));
  await decide(server, "ann", label(5, 0));
  await decide(server, "bob", label(5, 1));
  await until("the model follows", async () => { const now = await server.get("project"); return now.model_ready && now.model_version === now.version; });
  const page = await open(server);
  await page.goto(`${server.origin}/#export`);
  await page.waitForSelector(".export-view td");
  const cells = () => page.locator(".export-view tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].slice(0, 6).map((cell) => cell.textContent)));
  equal((await cells()).slice(0, 4), [["0", "low", "1", "1", "bulk", "ann"], ["3", "low", "0.500", "1", "person", "ann"],
    ["5", "", "", "0.500", "several", "ann | bob"], ["20", "high", "1", "1", "bulk", "ann"]], "the preview");
  const csv = await download(page, "csv");
  equal(csv.name, "Größe.csv", "the name of the file");
  const [head, first] = csv.text.split(/\r?\n/);
  hold(head.endsWith("mark,labels,colour,x,original_label"), head);
  hold(first.startsWith("0,low,1,1,bulk,ann,1,1,0,") && first.endsWith(",blue,0,"), first);
  // A file that is asked for without the page has the same name.
  const { token } = JSON.parse(fs.readFileSync(path.join(project, "server.json"), "utf8"));
  const answer = await fetch(`${server.origin}/api/v1/export?format=csv&original_columns=false`, { headers: { authorization: `Bearer ${token}` } });
  equal(answer.headers.get("content-disposition"), "attachment; filename=\"Gr__e.csv\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.csv", "the name in the answer");
  hold(!(await answer.text()).includes("colour"), "no columns of the pool");
  const code = await page.textContent(".snippet code");
  hold(code.includes('pd.read_csv("Größe.csv", dtype={"id": str, "label": str, "predicted": str, "colour": str}, keep_default_na=False, na_values=[""])'), code);
  hold(code.includes('pd.get_dummies(rows[["colour", "x"]])'), "the columns of the pool, without those of labels");
  hold((await page.textContent(".format[data-format=csv]")).includes("' before text that a spreadsheet would run"), "what CSV does to texts");
  // In Review a class decides between people: the label is that one, and nobody differs any more.
  await page.goto(`${server.origin}/#review`);
  await page.click("role=tab[name=/Disagreements/]");
  await page.waitForSelector(".doubt .class");
  await page.click(".doubt .class[data-class='1']");
  await until("it is decided", async () => (await server.get("status")).disagreements.length === 0);
  await page.goto(`${server.origin}/#export`);
  await until("the export follows", async () => (await cells())[2]?.slice(1, 5).join() === "high,1,1,person");
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});

test("a scene hands out maps", async () => {
  const project = path.join(place, "field.dial");
  run("new", "builtin:scene:256", "--project", project, "--with-labels", "--k", "8");
  const server = await serve(project);
  const page = await open(server);
  await page.goto(`${server.origin}/#export`);
  await page.waitForSelector(".format[data-format=maps]");
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(".format[data-format=maps]")]);
  equal(file.suggestedFilename(), "field-maps.zip", "its name");
  const bytes = fs.readFileSync(await file.path());
  equal(bytes.subarray(0, 4).toString("latin1"), "PK\u0003\u0004", "an archive");
  for (const name of ["class.hdr", "class.png", "doubt.img", "evidence.png"]) hold(bytes.includes(name), name);
  equal(page.trouble, [], "no error");
  await page.context().close();
  await server.stop();
});
