// The types of the interface as the page uses them, made from the document of the server: page/interface.d.ts.
//   node types.mjs           whether they are as the document says
//   node types.mjs --write   makes them

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const file = fileURLToPath(new URL("../../page/interface.d.ts", import.meta.url));
const root = fileURLToPath(new URL("../../../..", import.meta.url));
const head = "// Made by tests/page/types.mjs from the OpenAPI document of the server. Do not edit.\n\n";

const cargo = ["run", "--quiet", "--release", "-p", "dial-server", "--example", "document"];
const printed = execFileSync("cargo", cargo, { cwd: root, stdio: ["ignore", "pipe", "inherit"], maxBuffer: 64_000_000 });
const made = head + astToString(await openapiTS(JSON.parse(printed.toString())));

if (process.argv.includes("--write")) writeFileSync(file, made);
else if (kept() !== made) {
  console.error("page/interface.d.ts is not what the document says: run node crates/dial-server/tests/page/types.mjs --write");
  process.exit(1);
}

function kept() {
  try { return readFileSync(file, "utf8"); } catch { return ""; }
}
