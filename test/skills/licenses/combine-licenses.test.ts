import { expect, test } from "vitest";
import { combineLicenses, contradicts } from "../../../src/skills/licenses/combine-licenses.ts";

test.each([
  [[], undefined],
  [["MIT"], "MIT"],
  [["MIT", "MIT"], "MIT"],
  [["MIT", "Apache-2.0"], "Apache-2.0 AND MIT"],
  [["MIT OR ISC", "Apache-2.0"], "Apache-2.0 AND (MIT OR ISC)"],
  [["GPL-3.0", "GPL-3.0-or-later"], "GPL-3.0-or-later"],
  [["GPL-3.0", "LGPL-3.0"], "LGPL-3.0"],
  [["GPL-2.0", "LGPL-3.0"], "GPL-2.0 AND LGPL-3.0"],
])("the files %j together say %s", (licenses, together) => {
  expect(combineLicenses(licenses)).toBe(together);
});

test.each([
  ["MIT", "MIT", false],
  ["MIT", "ISC", true],
  ["MIT OR Apache-2.0", "Apache-2.0 AND MIT", false],
  ["MIT OR Apache-2.0", "GPL-3.0", true],
  ["GPL-3.0-or-later", "GPL-3.0", false],
  ["GPL-3.0", "GPL-3.0-or-later", false],
  ["GPL-3.0-only", "GPL-3.0-or-later", true],
  ["GPL-2.0-only WITH Classpath-exception-2.0", "GPL-2.0", false],
  ["LicenseRef-Proprietary", "MIT", true],
])("whether files contradict %s by saying %s: %s", (stated, found, expected) => {
  expect(contradicts(stated, found)).toBe(expected);
});
