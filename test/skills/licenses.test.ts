import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { diskSkillFiles } from "../../src/skills/files/disk-skill-files.ts";
import { type SkillLicense, findLicense, licenseForPolicy, readLicense } from "../../src/skills/licenses.ts";
import { parseSkill } from "../../src/skills/manifest/parse-skill.ts";
import type { Skill } from "../../src/skills/skill.ts";

/** What people write, by what it means. */
const meanings: Readonly<Record<string, readonly string[]>> = {
  MIT: [
    "MIT",
    "mit",
    " MIT. ",
    "MIT License",
    "MIT license",
    "The MIT License",
    "The MIT License (MIT)",
    "MIT Licence",
    "Licensed under the MIT License",
    "Expat",
    "https://opensource.org/licenses/MIT",
    "https://opensource.org/license/mit/",
  ],
  "MIT-0": ["MIT-0", "MIT No Attribution"],
  ISC: ["ISC", "ISC License"],
  "0BSD": ["0BSD"],
  "Apache-2.0": [
    "Apache-2.0",
    "apache-2.0",
    "Apache 2.0",
    "Apache 2",
    "Apache-2.0 license",
    "Apache License 2.0",
    "Apache License, Version 2.0",
    "The Apache License, Version 2.0",
    "Apache License v2.0",
    "Apache Software License 2.0",

    "http://www.apache.org/licenses/LICENSE-2.0",
    "https://www.apache.org/licenses/LICENSE-2.0.txt",
  ],
  "BSD-2-Clause": ["BSD-2-Clause", "BSD-2-Clause license", "BSD 2-Clause", "2-clause BSD", "Simplified BSD License"],
  "BSD-3-Clause": [
    "BSD-3-Clause",
    "BSD-3-Clause license",
    "3-clause BSD license",
    "3 clause BSD license",
    "New BSD License",
  ],
  "GPL-2.0": ["GPL-2.0", "GPLv2", "GPL 2", "GPL-2.0 license"],
  "GPL-3.0": ["GPL-3.0", "GPLv3", "GPL v3", "GPLv3 license", "GNU GPL v3", "GNU General Public License v3.0"],
  "GPL-3.0-only": ["GPL-3.0-only", "gpl-3.0-only", "GPLv3 only"],
  "GPL-3.0-or-later": ["GPL-3.0-or-later", "GPL-3.0+", "GPLv3+", "GPLv3 or later", "GNU GPL v3 or later"],
  "LGPL-2.1-or-later": ["LGPL-2.1-or-later", "LGPLv2.1+"],
  "LGPL-3.0": ["LGPL-3.0", "LGPLv3", "GNU Lesser General Public License, version 3"],
  "AGPL-3.0": ["AGPL-3.0", "AGPLv3", "GNU Affero General Public License v3"],
  "AGPL-3.0-or-later": ["AGPL-3.0-or-later", "AGPLv3 or later"],
  "MPL-2.0": ["MPL-2.0", "MPL 2.0", "Mozilla Public License 2.0", "Mozilla Public License, v. 2.0"],
  "EPL-2.0": ["EPL-2.0"],
  "BSL-1.0": ["BSL-1.0", "Boost Software License 1.0"],
  "BUSL-1.1": ["BUSL-1.1"],
  Unlicense: ["Unlicense", "The Unlicense"],
  "CC0-1.0": ["CC0-1.0", "CC0", "CC0 1.0 Universal"],
  "CC-BY-4.0": ["CC-BY-4.0", "CC BY 4.0", "Creative Commons Attribution 4.0 International"],
  "CC-BY-SA-4.0": ["CC-BY-SA-4.0", "CC BY-SA 4.0"],
  "CC-BY-NC-4.0": ["CC-BY-NC-4.0", "CC BY-NC 4.0"],
  "LicenseRef-Proprietary": [
    "Proprietary",
    "proprietary license",
    "All rights reserved.",
    "UNLICENSED",
    "Proprietary (API key required)",
    "Proprietary - internal use only",
    "Copyright (c) 2025 Example. All rights reserved.",
  ],
  "MIT OR Apache-2.0": ["MIT OR Apache-2.0", "mit or apache-2.0", "MIT or Apache 2.0", "(MIT OR Apache-2.0)"],
  "MIT AND CC-BY-4.0": ["MIT AND CC-BY-4.0", "MIT and CC BY 4.0"],
  "MIT AND (Apache-2.0 OR ISC)": ["MIT AND (Apache-2.0 OR ISC)"],
  "Apache-2.0 WITH LLVM-exception": ["Apache-2.0 WITH LLVM-exception"],
  "LicenseRef-Own-Terms": ["LicenseRef-Own-Terms"],
};

test.each(Object.entries(meanings).flatMap(([id, texts]) => texts.map((text) => [text, id] as const)))(
  "%s is %s",
  (text, id) => {
    expect(readLicense(text)).toBe(id);
    expect(readLicense(id)).toBe(id);
  },
);

test.each([
  "BSD",
  "BSD license",
  "SD-3-Clause license",
  "GPL",
  "GNU General Public License",
  "Apache",
  "Apache License",
  "Creative Commons",
  "CC-BY",
  "CeCILL FREE SOFTWARE LICENSE AGREEMENT",
  "Free for personal use",
  "MIT (non-commercial use only)",
  "MIT with Commons Clause",
  "MIT/Apache-2.0",
  "MIT or Apache-2.0 and ISC or Zlib or something",
  "MIT, except for the images",
  "Not MIT",
  "MIT?",
  "NotALicense-1.0",
  "GPL-3.0 or any license of your choice",
  "https://github.com/example/skills/blob/main/LICENSE",
  "This skill is provided under the MIT License. The data has licenses of its own.",
])("%s is not recognized", (text) => {
  expect(readLicense(text)).toBeUndefined();
});

test.each([
  ["Complete terms in LICENSE.txt", undefined],
  ["Proprietary. LICENSE.txt has complete terms", "LicenseRef-Proprietary"],
  ["See LICENSE", undefined],
  ["MIT (see LICENSE.txt)", "MIT"],
  ["Apache License, Version 2.0; see LICENSE", "Apache-2.0"],
  ["MIT. Full text in LICENSE", "MIT"],
])("%s: %s", (text, expression) => {
  expect(readLicense(text)).toBe(expression);
});

test("any text is read without an exception, and what it means is an expression", () => {
  const words = fc.constantFrom(
    "MIT",
    "or",
    "AND",
    "(",
    ")",
    "GPL-3.0+",
    "License",
    "see",
    "LICENSE.txt",
    "../",
    "WITH",
    ".",
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 12 }).map((list) => list.join(" ")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const expression = readLicense(text);
      if (expression !== undefined) expect(readLicense(expression)).toBe(expression);
    }),
  );
});

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-licenses-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const source = { files: diskSkillFiles() };
const write = (name: string): void => writeFileSync(path.join(directory, name), "Terms.\n");
function skillWith(license: string | undefined): Skill {
  const field = license === undefined ? "" : `license: ${JSON.stringify(license)}\n`;
  const head = Buffer.from(`---\nname: pdf\ndescription: Reads documents.\n${field}---\n`);
  const file = path.join(directory, "SKILL.md");
  const { skill } = parseSkill({ directory, expectedName: "pdf", file, head, whole: true }, undefined);
  if (skill === undefined) throw new Error("no skill");
  return skill;
}
const licenseOf = (license?: string): SkillLicense => findLicense(source, skillWith(license));

test("a skill states a license, or something else, or nothing", () => {
  expect(licenseOf("MIT License")).toEqual({ status: "declared", license: "MIT", declared: "MIT License", files: [] });
  expect(licenseOf("Free for friends")).toEqual({ status: "unknown", declared: "Free for friends", files: [] });
  expect(licenseOf()).toEqual({ status: "unspecified", files: [] });
  write("LICENSE.txt");
  expect(licenseOf()).toEqual({ status: "unknown", files: ["LICENSE.txt"] });
});

test.each(["", "  ", "Unknown", "none", "N/A", "NOASSERTION", "TBD"])("%j states nothing", (license) => {
  expect(licenseOf(license).status).toBe("unspecified");
});

test("policies judge the stated license; without one, whether there is a file", () => {
  const judged = (license?: string): string => licenseForPolicy(source, skillWith(license));
  expect([judged("GPLv3+"), judged("Mine"), judged()]).toEqual(["GPL-3.0-or-later", "unknown", "unspecified"]);
  write("COPYING");
  expect(judged()).toBe("unknown");
});

test.skipIf(process.platform === "win32")("a FIFO, a directory and other names are no license files", () => {
  execFileSync("mkfifo", [path.join(directory, "LICENSE")]);
  mkdirSync(path.join(directory, "COPYING"));
  symlinkSync("absent", path.join(directory, "LICENSE.md"));
  for (const name of ["LICENSE.py", "license-checker.md.js", "LICENSES", ".LICENSE"]) write(name);
  expect(licenseOf()).toEqual({ status: "unspecified", files: [] });
});

test("of many license files, eight are listed", () => {
  for (let index = 0; index < 20; index++) write(`LICENSE-${index}`);
  expect(licenseOf().files).toHaveLength(8);
});
