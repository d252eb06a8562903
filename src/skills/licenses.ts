import { createRequire } from "node:module";
import type parse from "spdx-expression-parse";
import type { Info, LicenseInfo } from "spdx-expression-parse";
import { attempt } from "../base/failures/system-error.ts";
import { byCodePoint } from "../base/text/code-points.ts";
import type { SkillSource } from "./files.ts";
import { orNothing } from "./hash.ts";
import type { Skill } from "./skill.ts";

/** The license that a skill states. The texts of license files are not read: their paths are listed for the user. */
export interface SkillLicense {
  /**
   * `declared`: the `license` field names licenses. `unknown`: the field says something else, or there is only a license file.
   * `unspecified`: there is neither.
   */
  readonly status: "declared" | "unknown" | "unspecified";
  /** SPDX expression; present if `declared`. */
  readonly license?: string;
  /** The `license` field as written. */
  readonly declared?: string;
  /** The license files beside SKILL.md. */
  readonly files: readonly string[];
}

const licenseFileName =
  /^(?:licen[cs]e|copying|unlicense)(?:[-_][\w-]{1,32})?(?:\.(?:txt|md|rst|mit|apache|bsd|gpl|lgpl|lesser))?$/i;
const maxFiles = 8;

/** The license that a skill states in its frontmatter, and the license files in its directory. Never throws because of their content. */
export function findLicense({ files: disk }: Pick<SkillSource, "files">, skill: Skill): SkillLicense {
  const license = readLicense(skill.license);
  const files = (orNothing(() => disk.list(skill.directory)) ?? [])
    .filter(({ name, kind }) => kind === "file" && licenseFileName.test(name))
    .map(({ name }) => name)
    .sort(byCodePoint)
    .slice(0, maxFiles);
  const facts = { ...(skill.license !== undefined && { declared: skill.license }), files };
  if (license !== undefined) return { status: "declared", license, ...facts };
  return { status: statesNothing(skill.license) && files.length === 0 ? "unspecified" : "unknown", ...facts };
}

/** The license of a skill as policies judge it: an SPDX expression, `unknown` or `unspecified`. */
export function licenseForPolicy(source: Pick<SkillSource, "files">, skill: Skill): string {
  const { license, status } = findLicense(source, skill);
  return license ?? status;
}

/** The SPDX expression that a `license` field names, if any. Guesses neither a version nor whether later versions are allowed. */
export function readLicense(text = ""): string | undefined {
  const words = text.trim().replace(/[.;,(\s]+(?:see|full text in) [\w./ -]{1,80}\)?$/i, "");
  // Names are tried first, so that `GPL-2.0+` and `gpl-2.0+` are equal.
  return readName(words) ?? readTwice(words) ?? readSeveral(words) ?? (isProprietary(words) ? proprietary : undefined);
}

function statesNothing(text = ""): boolean {
  return /^(?:|unknown|none|n\/a|na|noassertion|unspecified|not specified|tbd|todo|-|\?)\.?$/i.test(text.trim());
}

function readName(text: string): string | undefined {
  table ??= new Map(
    [...identifiers.map((id): [string, string] => [id, id]), ...Object.entries(aliases)].map(([name, id]) => [
      simplify(name),
      id,
    ]),
  );
  return table.get(simplify(text)) ?? toExpression(text);
}

/** Reads two names of one license: `MIT License (MIT)`. */
function readTwice(text: string): string | undefined {
  const [, name = "", other = ""] = /^([^()]+)\(([^()]+)\)$/.exec(text) ?? [];
  const id = readName(name);
  return id !== undefined && id === readName(other) ? id : undefined;
}

/** Reads several names: `MIT or Apache 2.0`. With both words, the grouping would be unclear without parentheses. */
function readSeveral(text: string): string | undefined {
  for (const word of ["or", "and"]) {
    const names = text.split(new RegExp(`\\s+${word}\\s+`, "i"));
    const ids = names.map(readName);
    if (names.length > 1 && !ids.some((id) => id === undefined || /\s/.test(id)))
      return ids.join(` ${word.toUpperCase()} `);
  }
  return undefined;
}

/** Stands for a license that only its owner can grant. */
const proprietary = "LicenseRef-Proprietary";

/** Whether a text reserves all rights: `Proprietary - internal use only`, `© 2025 Example. All rights reserved.` */
function isProprietary(text: string): boolean {
  return (
    !/\bor\b/i.test(text) &&
    (/^(?:proprietary|confidential)\b|^(?:all rights reserved|unlicensed|closed source)\.?$/i.test(text) ||
      /^(?:copyright|\(c\)|©).*\ball rights reserved\.?$/i.test(text))
  );
}

/** Identifiers that are recognised whatever their case and punctuation. */
const identifiers = (
  "MIT MIT-0 ISC 0BSD BSD-2-Clause BSD-3-Clause Apache-2.0 MPL-2.0 GPL-2.0 GPL-2.0-only GPL-2.0-or-later GPL-3.0 GPL-3.0-only " +
  "GPL-3.0-or-later LGPL-2.1 LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0 LGPL-3.0-only LGPL-3.0-or-later AGPL-3.0 AGPL-3.0-only " +
  "AGPL-3.0-or-later EPL-1.0 EPL-2.0 EUPL-1.2 BSL-1.0 BUSL-1.1 Unlicense CC0-1.0 CC-BY-4.0 CC-BY-SA-4.0 CC-BY-NC-4.0 " +
  "CC-BY-NC-SA-4.0 CC-BY-ND-4.0 CC-BY-NC-ND-4.0 Zlib WTFPL Artistic-2.0 Python-2.0 OFL-1.1 Elastic-2.0"
).split(" ");

/** Further common names of licenses. A name without a version is absent if versions differ, because it would be a guess. */
const aliases: Readonly<Record<string, string>> = {
  Expat: "MIT",
  "opensource.org/license/mit": "MIT",
  "opensource.org/licenses/MIT": "MIT",
  "MIT No Attribution": "MIT-0",
  "Simplified BSD": "BSD-2-Clause",
  "2-clause BSD": "BSD-2-Clause",
  "New BSD": "BSD-3-Clause",
  "Modified BSD": "BSD-3-Clause",
  "3-clause BSD": "BSD-3-Clause",
  "Apache Software 2.0": "Apache-2.0",
  "www.apache.org/licenses/LICENSE-2.0": "Apache-2.0",
  GPL2: "GPL-2.0",
  GPL3: "GPL-3.0",
  LGPL3: "LGPL-3.0",
  AGPL3: "AGPL-3.0",
  "Mozilla Public License 2.0": "MPL-2.0",
  "Boost Software License 1.0": "BSL-1.0",
  CC0: "CC0-1.0",
  "CC0 1.0 Universal": "CC0-1.0",
  "Creative Commons Attribution 4.0": "CC-BY-4.0",
  "Creative Commons Attribution 4.0 International": "CC-BY-4.0",
};

let table: ReadonlyMap<string, string> | undefined;

/** Simplifies a name: removes case, punctuation, "the", "license", "version" and `.0`, and shortens the names of GNU licenses. */
function simplify(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/^\s*(?:(?:dual[- ])?(?:licensed|released|available|distributed|provided) under\s+)?(?:the\s+)?/, "")
    .replace(/\bhttps?:\/\//g, "")
    .replace(/(?:\.html|\.txt|\.php|\/)$/g, "")
    .replace(/["'“”‘’`()[\],]/g, " ")
    .replace(/\+/g, " or later ")
    .replace(/[-_]/g, " ")
    .replace(/\b(?:licen[cs]ed?|version|ver)\b/g, " ")
    .replace(/\bv\.?\s*(?=\d)|(?<=[a-z])v(?=\d)/g, " ")
    .replace(/(\d)\.0\b/g, "$1")
    .replace(/\.(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .replace(/\b(lesser |affero )?general public\b/, (_whole, kind = "") => `${String(kind).charAt(0)}gpl`)
    .replace(/^gnu /, "")
    .trim();
}

/** The maximum length of a text to parse, because the parser is recursive. */
const maxExpressionLength = 2_000;
/** Loaded for the first license that is parsed, so that reading skills and policies at the start takes no longer. */
let parser: typeof parse | undefined;

/** Parses an SPDX license expression; undefined if the text is not one. */
export function parseLicense(text: string): Info | undefined {
  // The parser skips other characters at some positions.
  if (text.length > maxExpressionLength || !/^[A-Za-z0-9.+:() -]+$/.test(text)) return undefined;
  parser ??= createRequire(import.meta.url)("spdx-expression-parse") as typeof parse;
  const parseExpression = parser;
  return attempt(() => parseExpression(text), undefined);
}

/** An expression in one spelling, such as `MIT OR Apache-2.0`. */
function toExpression(text: string): string | undefined {
  const tree = parseLicense(text.trim().replace(/\s+/g, " "));
  return tree === undefined ? undefined : print(tree);
}

function print(tree: Info): string {
  if (!("conjunction" in tree)) return printTerm(tree);
  const side = (inner: Info): string =>
    tree.conjunction === "and" && "conjunction" in inner && inner.conjunction === "or"
      ? `(${print(inner)})`
      : print(inner);
  return `${side(tree.left)} ${tree.conjunction.toUpperCase()} ${side(tree.right)}`;
}

function printTerm({ license, plus, exception }: LicenseInfo): string {
  const suffix = plus !== true ? "" : /^(?:A|L)?GPL-\d/.test(license) ? "-or-later" : "+";
  return `${license}${suffix}${exception === undefined ? "" : ` WITH ${exception}`}`;
}
