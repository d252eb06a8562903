/**
 * Looks at a source COUNT times, whose published version changes each time, and prints a line after each look. Arguments: the data
 * directory, COUNT.
 */
import { openCopies } from "./open-copies.js";
import { openVersions } from "./versions.js";

const [dataDirectory = "", count = ""] = process.argv.slice(2);
const source = openVersions();
const copies = openCopies(dataDirectory, { openReader: source.openReader });
const { signal } = new AbortController();
for (let look = 0; look < Number(count); look++) {
  source.publish(look % 2 === 0 ? "second" : "first");
  for (const { failure } of await copies.refresh(signal))
    if (failure !== undefined) process.stderr.write(`${failure}\n`);
  process.stdout.write(`${look}\n`);
}
await copies.close();
