// node test/walks/main.js [--list WALK]: counts the files of ours that run in one action, or lists those of one. Build first.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { walkAdd, walkBrowse, walkWrapper } from "./walks.js";

const { values } = parseArgs({ options: { list: { type: "string" } } });
for (const walk of [walkWrapper, walkAdd, walkBrowse]) {
  const folder = mkdtempSync(path.join(tmpdir(), "acp-skills-walks-"));
  const walks = await walk(folder);
  rmSync(folder, { recursive: true, force: true });
  for (const [name, ran] of Object.entries(walks)) {
    const files = Object.keys(ran).sort();
    if (values.list === undefined) console.log(`${String(files.length).padStart(4)}  ${name}`);
    else if (name === values.list) for (const file of files) console.log(`${file}: ${ran[file]?.join(" ")}`);
  }
}
