import fc from "fast-check";
import { expect, test } from "vitest";
import { findVersion, fitOf, readRange } from "../../../src/skills/environment/known-programs.ts";

test.each([
  ["3.10+", ">=3.10"],
  [">= 3.10", ">=3.10"],
  ["≥18", ">=18"],
  ["v20.x", "=20"],
  ["==1.2", "=1.2"],
  ["~=3.9", ">=3.9,=3"],
  [">=3.9, <4", ">=3.9,<4"],
  ["^18", "^18"],
  ["3", "3"],
  ["", undefined],
  ["latest", undefined],
  ["3.10+ or so", undefined],
  [">=", undefined],
  ["1".repeat(101), undefined],
])("reads the range %j as %j", (text, range) => {
  expect(readRange(text)).toBe(range);
});

test.each([
  ["3.11.2", ">=3.10", "yes"],
  ["3.9.2", ">=3.10", "no"],
  ["3.10", ">=3.10.1", "no"],
  ["3.10.4", ">3.10", "no"],
  ["3.10.4", "<=3.10", "yes"],
  ["4.0", ">=3.9,<4", "no"],
  ["18.2.1", "^18", "yes"],
  ["19.0.0", "^18", "no"],
  ["0.3.0", "^0.2", "no"],
  ["1.2.9", "~1.2", "yes"],
  ["1.3.0", "~1.2", "no"],
  ["20.4.1", "=20", "yes"],
  ["3.12.1", "3", "yes"],
  ["3.12.1", "3.10", "newer"],
  ["2.7.18", "3", "no"],
])("version %s fits %s: %s", async (version, range, fit) => {
  expect(await fitOf(version, range)).toBe(fit);
});

test.each([
  ["Python 3.11.2\n", "3.11.2"],
  ["v20.19.1", "20.19.1"],
  ["git version 2.39.5 (Apple Git-154)", "2.39.5"],
  ["go version go1.22.1 linux/amd64", "1.22.1"],
  ["jq-1.6", "1.6"],
  ["openjdk 17.0.2 2022-01-18", "17.0.2"],
  ["openjdk 21 2023-09-19", "21"],
  ['java version "1.8.0_292"', "8.0"],
  ["GNU bash, version 5.1.16(1)-release (x86_64-pc-linux-gnu)", "5.1.16"],
  ["This is perl 5, version 34, subversion 0 (v5.34.0) built for x86_64", "5.34.0"],
  ["ffmpeg version n6.1.1 Copyright (c) 2000-2023", "6.1.1"],
  ["Docker version 24.0.5, build ced0996", "24.0.5"],
  ["no version here", undefined],
  ["", undefined],
])("finds in %j the version %j", (output, version) => {
  expect(findVersion(output)).toBe(version);
});

test("a version fits its own range, and no lower one fits a minimum", async () => {
  const versions = fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }).map((numbers) => numbers.join("."));
  await fc.assert(
    fc.asyncProperty(versions, versions, async (a, b) => {
      expect(await fitOf(a, `>=${a}`)).toBe("yes");
      expect(await fitOf(a, `<${a}`)).toBe("no");
      if ((await fitOf(a, `>=${b}`)) === "no") expect(await fitOf(b, `>=${a}`)).toBe("yes");
    }),
  );
});

test("never throws, whatever is written or printed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      const range = readRange(text);
      if (range !== undefined) await fitOf("1.2.3", range);
      findVersion(text);
    }),
  );
});
