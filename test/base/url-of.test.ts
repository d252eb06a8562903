import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { urlOf } from "../../src/base/url-of.ts";

test("a module lies where it says; in a bundle that cannot say, where the program does", () => {
  expect(urlOf(import.meta)).toBe(import.meta.url);
  expect(urlOf({})).toBe(pathToFileURL(process.argv[1] ?? "").href);
});
