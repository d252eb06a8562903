import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runInSlices } from "../../src/base/promises/slices.ts";
import { diskSkillBytes, diskSkillFiles } from "../../src/skills/files/disk-skill-files.ts";
import { type SkillLicense, findLicense } from "../../src/skills/licenses.ts";
import { parseSkill } from "../../src/skills/manifest/parse-skill.ts";

const fixtures = fileURLToPath(new URL("../fixtures/licenses/", import.meta.url));
const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };

async function licenseOf(directory: string): Promise<SkillLicense> {
  const file = path.join(directory, "SKILL.md");
  const expectedName = path.basename(directory);
  const { skill } = parseSkill({ directory, expectedName, file, head: readFileSync(file), whole: true }, undefined);
  if (skill === undefined) throw new Error(`${file} is not a skill.`);
  return await runInSlices(findLicense(source, skill));
}

/** For each folder: the status, the license, and what its files say. */
const expected: Readonly<Record<string, readonly (string | undefined)[]>> = {
  "declared-spdx": ["declared", "MIT"],
  "declared-expression": ["declared", "MIT OR Apache-2.0"],
  "declared-alias": ["declared", "Apache-2.0"],
  "declared-and-confirmed": ["declared", "MIT", "LICENSE: MIT"],
  "declared-beside-own-text": ["declared", "MIT", "LICENSE: ?"],
  "declared-proprietary-in-file": ["declared", "LicenseRef-Proprietary", "LICENSE.txt: ?"],
  "detected-mit": ["detected", "MIT", "LICENSE: MIT"],
  "detected-isc": ["detected", "ISC", "COPYING: ISC"],
  "detected-0bsd": ["detected", "0BSD", "LICENSE: 0BSD"],
  "detected-bsd-2-clause": ["detected", "BSD-2-Clause", "LICENSE.md: BSD-2-Clause"],
  "detected-bsd-3-clause": ["detected", "BSD-3-Clause", "LICENCE: BSD-3-Clause"],
  "detected-unlicense": ["detected", "Unlicense", "UNLICENSE: Unlicense"],
  "detected-apache-notice": ["detected", "Apache-2.0", "LICENSE: Apache-2.0"],
  "detected-gpl-or-later": ["detected", "GPL-3.0-or-later", "COPYING: GPL-3.0-or-later"],
  "detected-gpl-only": ["detected", "GPL-3.0-only", "COPYING: GPL-3.0-only"],
  "detected-by-tag": ["detected", "EPL-2.0 OR MIT", "LICENSE.txt: EPL-2.0 OR MIT"],
  "detected-statement": ["detected", "MIT", "LICENSE.md: MIT"],
  "detected-two": ["detected", "BSD-3-Clause AND MIT", "LICENSE-BSD: BSD-3-Clause", "LICENSE-MIT: MIT"],
  "detected-in-named-file": ["detected", "MIT", "LICENSE.txt: MIT"],
  "detected-in-named-folder": ["detected", "MIT", "licenses/own-license.txt: MIT"],
  conflict: ["conflict", "MIT, not GPL-3.0-or-later", "LICENSE: GPL-3.0-or-later"],
  "unknown-file-missing": ["unknown", undefined, "LICENSE.txt: does not exist"],
  "unknown-file-outside": [
    "unknown",
    undefined,
    "../LICENSE.txt: is not read: its path has a segment ..; write it relative to the skill's directory",
  ],
  "unknown-own-text": ["unknown", undefined, "LICENSE.txt: ?"],
  "unknown-mit-restricted": ["unknown", undefined, "LICENSE: ? (nearest: MIT)"],
  "unknown-mit-restricted-in-copyright": ["unknown", undefined, "LICENSE: ? (nearest: MIT)"],
  "unknown-no-version": ["unknown"],
  "unknown-url": ["unknown"],
  unspecified: ["unspecified"],
  "unspecified-in-words": ["unspecified"],
};

function summarize({ status, license, contradiction, files }: SkillLicense): readonly (string | undefined)[] {
  const told = contradiction === undefined ? license : `${license}, not ${contradiction}`;
  const shown = files.map(({ path, licenses, nearest, fault }) => {
    const near = nearest === undefined ? "" : ` (nearest: ${nearest.license})`;
    return `${path}: ${fault ?? (licenses.length > 0 ? licenses.join(", ") : `?${near}`)}`;
  });
  return told === undefined && shown.length === 0 ? [status] : [status, told, ...shown];
}

test("every fixture is listed", () => {
  expect(Object.keys(expected).sort()).toEqual(readdirSync(fixtures).sort());
});

test.each(Object.entries(expected))("%s: %j", async (folder, summary) => {
  expect(summarize(await licenseOf(path.join(fixtures, folder)))).toEqual(summary);
});

let directory = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-licenses-")));
  mkdirSync(path.join(directory, "pdf"));
  write("SKILL.md", "---\nname: pdf\ndescription: Reads documents.\n---\n");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const skillAt = (): string => path.join(directory, "pdf");
const write = (name: string, text: string): void => writeFileSync(path.join(directory, "pdf", name), text);
const mit = readFileSync(path.join(fixtures, "detected-mit", "LICENSE"), "utf8");

test("by itself, a skill has no license of the project around it", async () => {
  writeFileSync(path.join(directory, "LICENSE"), mit);
  expect(await licenseOf(skillAt())).toEqual({ status: "unspecified", files: [] });
});

test("a link that leads outside the skill is not followed, one inside is", async () => {
  writeFileSync(path.join(directory, "LICENSE"), mit);
  symlinkSync("../LICENSE", path.join(skillAt(), "LICENSE"));
  expect(summarize(await licenseOf(skillAt()))).toEqual([
    "unknown",
    undefined,
    "LICENSE: leads outside the skill's directory",
  ]);
  write("terms.txt", mit);
  symlinkSync("terms.txt", path.join(skillAt(), "COPYING"));
  expect(summarize(await licenseOf(skillAt()))).toEqual([
    "detected",
    "MIT",
    "COPYING: MIT",
    "LICENSE: leads outside the skill's directory",
  ]);
});

test("a file that is too long is not compared", async () => {
  write("LICENSE", mit.padEnd(200_000, " word"));
  expect(summarize(await licenseOf(skillAt()))).toEqual([
    "unknown",
    undefined,
    "LICENSE: is 200000 bytes long; the limit is 131072 bytes",
  ]);
});

test.skipIf(process.platform === "win32")("a FIFO, a directory and other names are no license files", async () => {
  execFileSync("mkfifo", [path.join(skillAt(), "LICENSE")]);
  mkdirSync(path.join(skillAt(), "COPYING"));
  for (const name of ["LICENSE.py", "license-checker.md.js", "LICENSES", ".LICENSE"]) write(name, mit);
  expect(await licenseOf(skillAt())).toEqual({ status: "unspecified", files: [] });
});

test("of many license files, eight are read", async () => {
  for (let index = 0; index < 20; index++) write(`LICENSE-${index}`, mit);
  const { license, files } = await licenseOf(skillAt());
  expect([license, files.length]).toEqual(["MIT", 8]);
});
