import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** What a module loads at once: files of ours, and packages. */
function loadedWith(file: URL, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file.href)) return found;
  found.add(file.href);
  const text = readFileSync(fileURLToPath(file), "utf8");
  for (const [, names, from = ""] of text.matchAll(/^(?:im|ex)port ([^"]*?)from "([^"]+)";/gm)) {
    if (names?.startsWith("type ") === true) continue;
    if (from.startsWith(".")) loadedWith(new URL(from, file), found);
    else if (!from.startsWith("node:")) found.add(from);
  }
  return found;
}

test("the service starts without the libraries of tools, which would delay the first session", () => {
  const loaded = loadedWith(new URL("../../../src/acp/service/serve-port.ts", import.meta.url));
  expect(loaded.size).toBeGreaterThan(10);
  expect([...loaded].filter((name) => /^(?:zod|@modelcontextprotocol)/.test(name))).toEqual([]);
});
