import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { urlOf } from "../../../src/base/paths/url-of.ts";

test("returns import.meta.url, or the URL of the main program in a bundle without it", () => {
  expect(urlOf(import.meta)).toBe(import.meta.url);
  expect(urlOf({})).toBe(pathToFileURL(process.argv[1] ?? "").href);
});
