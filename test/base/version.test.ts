import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { minNodeVersion, nodeFault, version } from "../../src/base/version.ts";

test("the version equals that of package.json", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  expect((JSON.parse(text) as { version: string }).version).toBe(version);
});

test("the required Node is that of package.json", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { engines } = JSON.parse(text) as { engines: { node: string } };
  expect(`>=${minNodeVersion}`).toBe(`${engines.node}.0`);
  expect(["20.19.0", "20.20.1", "22.0.0", "24.1.0"].map(nodeFault)).toEqual(Array(4).fill(undefined));
  for (const version of ["18.20.8", "20.18.3", "16.0.0"]) expect(nodeFault(version)).toContain(version);
});
