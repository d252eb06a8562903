import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { version } from "../../src/base/version.ts";

test("equals the version in package.json", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  expect((JSON.parse(text) as { version: string }).version).toBe(version);
});
