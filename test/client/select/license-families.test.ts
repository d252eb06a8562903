import { expect, test } from "vitest";
import { licenseFamilies } from "../../../src/client/select/license-families.ts";

test.each([
  ["MIT", ["MIT"]],
  ["MIT OR Apache-2.0", ["MIT", "Apache"]],
  ["Apache License 2.0", ["Apache"]],
  ["GPLv3", ["GPL"]],
  ["LGPL-2.1-or-later", ["LGPL"]],
  ["CC0-1.0", ["CC"]],
  ["BSD-3-Clause license", ["BSD"]],
  ["0BSD", ["BSD"]],
  ["Proprietary. LICENSE.txt has complete terms", ["other"]],
  ["permitted", ["other"]],
  ["", ["unspecified"]],
  [undefined, ["unspecified"]],
])("%s is of the families %j", (license, families) => {
  expect(licenseFamilies(license)).toEqual(families);
});
