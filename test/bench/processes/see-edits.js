// The floor of noticing an edit: fs.watch on a root and its directories; prints the head of a changed file immediately.
import { readdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";

const [, , root = ""] = process.argv;
/** @type {Map<string, import("node:fs").FSWatcher>} */
const watchers = new Map();

watch(root, (_event, name) => name !== null && look(name));
for (const name of readdirSync(root)) add(name);
process.stdout.write("watching\n");
process.stdin.resume().on("end", () => process.exit());

/** @param {string} name */
function add(name) {
  const watcher = watch(join(root, name), () => tell(name));
  watcher.on("error", () => remove(name));
  watchers.set(name, watcher);
}

/** @param {string} name */
function remove(name) {
  watchers.get(name)?.close();
  watchers.delete(name);
}

/** @param {string} name */
function look(name) {
  remove(name);
  try {
    add(name);
  } catch {
    // It was removed, which the other end reports.
  }
  tell(name);
}

/** @param {string} name */
function tell(name) {
  let text = "";
  try {
    text = readFileSync(join(root, name, "SKILL.md"), "utf8").slice(0, 4096);
  } catch {
    // Unreadable files are reported without text.
  }
  process.stdout.write(`${JSON.stringify({ _update: name, text })}\n`);
}
