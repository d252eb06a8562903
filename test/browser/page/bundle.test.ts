import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const built = fileURLToPath(new URL("../../../dist/browser/", import.meta.url));
const scripts = readdirSync(built).filter((name) => name.endsWith(".js"));
const textOf = (name: string): string => readFileSync(`${built}${name}`, "utf8");

test("all scripts together have at most 70 KB gzip", () => {
  const sizes = scripts.map((name) => [name, gzipSync(textOf(name)).byteLength] as const);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  console.log(
    `the skill browser's scripts: ${(total / 1024).toFixed(1)} KB gzip (${sizes.map(([name, size]) => `${name} ${size}`).join(", ")})`,
  );
  expect(total).toBeLessThanOrEqual(70 * 1024);
});

/** Names of XML namespaces, and where marked asks for its errors to be reported. */
const words = /^http:\/\/www\.w3\.org$|^https:\/\/github\.com$/;

test("no script names another machine", () => {
  for (const name of scripts) {
    const addresses = textOf(name).match(/https?:\/\/[\w.-]+/g) ?? [];
    expect(addresses.filter((address) => !words.test(address))).toEqual([]);
  }
});

test("the licenses of what is bundled are beside it", () => {
  const licenses = textOf("licenses.md");
  for (const name of ["preact", "@preact/signals", "@preact/signals-core", "marked", "@leeoniya/ufuzzy"])
    expect(licenses).toMatch(new RegExp(`^## ${name} - `, "m"));
  const names = licenses.match(/^## \S+ - .+$/gm) ?? [];
  expect(names.every((name) => name.endsWith("(MIT)"))).toBe(true);
});
