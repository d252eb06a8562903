/** What stands for a license that only its owner can grant. */
export const proprietary = "LicenseRef-Proprietary";

/** What people write instead of SPDX identifiers. Without a version, where versions differ, nothing stands here: it would be a guess. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  MIT: ["Expat", "MIT/Expat", "MIT/X11", "opensource.org/license/mit", "opensource.org/licenses/MIT"],
  "MIT-0": ["MIT No Attribution", "MIT-0 (No Attribution)"],
  ISC: [],
  "0BSD": ["BSD Zero Clause", "Zero-Clause BSD", "BSD-0-Clause", "Free Public License 1.0.0"],
  "BSD-2-Clause": [
    "BSD 2 Clause",
    "2-clause BSD",
    "BSD two clause",
    "Simplified BSD",
    "FreeBSD",
    'BSD 2-Clause "Simplified"',
  ],
  "BSD-3-Clause": [
    "BSD 3 Clause",
    "3-clause BSD",
    "BSD three clause",
    "New BSD",
    "Modified BSD",
    "Revised BSD",
    'BSD 3-Clause "New" or "Revised"',
  ],
  "Apache-2.0": [
    "Apache 2",
    "Apache2",
    "ASL 2.0",
    "Apache Software License 2.0",
    "Apache License, Version 2.0",
    "www.apache.org/licenses/LICENSE-2.0",
    "apache.org/licenses/LICENSE-2.0",
    "opensource.org/licenses/Apache-2.0",
  ],
  "MPL-2.0": ["MPL 2", "MPL2", "Mozilla Public License 2.0", "Mozilla 2.0"],
  "GPL-2.0": ["GPL2", "gnu.org/licenses/gpl-2.0"],
  "GPL-2.0-only": [],
  "GPL-2.0-or-later": [],
  "GPL-3.0": ["GPL3", "gnu.org/licenses/gpl-3.0"],
  "GPL-3.0-only": [],
  "GPL-3.0-or-later": [],
  "LGPL-2.1": ["gnu.org/licenses/lgpl-2.1"],
  "LGPL-2.1-only": [],
  "LGPL-2.1-or-later": [],
  "LGPL-3.0": ["LGPL3", "gnu.org/licenses/lgpl-3.0"],
  "LGPL-3.0-only": [],
  "LGPL-3.0-or-later": [],
  "AGPL-3.0": ["AGPL3", "gnu.org/licenses/agpl-3.0"],
  "AGPL-3.0-only": [],
  "AGPL-3.0-or-later": [],
  "EPL-1.0": ["EPL 1", "Eclipse Public License 1.0"],
  "EPL-2.0": ["EPL 2", "Eclipse Public License 2.0"],
  "EUPL-1.2": ["European Union Public License 1.2"],
  "BSL-1.0": ["Boost", "Boost Software License 1.0", "Boost 1.0"],
  "BUSL-1.1": ["Business Source License 1.1"],
  Unlicense: ["unlicense.org"],
  "CC0-1.0": ["CC0", "CC-0", "CC Zero", "CC0 1.0 Universal", "Creative Commons Zero v1.0 Universal"],
  "CC-BY-4.0": ["CC BY 4", "Creative Commons Attribution 4.0", "Creative Commons Attribution 4.0 International"],
  "CC-BY-SA-4.0": [
    "CC BY-SA 4",
    "Creative Commons Attribution-ShareAlike 4.0",
    "Creative Commons Attribution Share Alike 4.0 International",
  ],
  "CC-BY-NC-4.0": [
    "CC BY-NC 4",
    "Creative Commons Attribution-NonCommercial 4.0",
    "Creative Commons Attribution Non Commercial 4.0 International",
  ],
  "CC-BY-NC-SA-4.0": ["CC BY-NC-SA 4", "Creative Commons Attribution-NonCommercial-ShareAlike 4.0"],
  "CC-BY-ND-4.0": ["CC BY-ND 4", "Creative Commons Attribution-NoDerivatives 4.0"],
  "CC-BY-NC-ND-4.0": ["CC BY-NC-ND 4", "Creative Commons Attribution-NonCommercial-NoDerivatives 4.0"],
  Zlib: ["zlib/libpng"],
  WTFPL: ["Do What The F*ck You Want To Public License"],
  "Artistic-2.0": ["Artistic 2", "Artistic License 2.0"],
  "Python-2.0": ["PSF", "Python Software Foundation License", "PSF-2"],
  "OFL-1.1": ["SIL Open Font License 1.1", "SIL OFL 1.1"],
  "Elastic-2.0": ["Elastic License 2.0", "ELv2"],
  [proprietary]: [
    "Proprietary",
    "Closed source",
    "Commercial",
    "Confidential",
    "All rights reserved",
    "UNLICENSED",
    "Internal use only",
  ],
};

/** Written by those who do not state a license. */
const nothing = new Set([
  "unknown",
  "none",
  "n/a",
  "na",
  "noassertion",
  "unspecified",
  "not specified",
  "tbd",
  "todo",
  "-",
  "?",
]);

let table: ReadonlyMap<string, string> | undefined;

/** The SPDX identifier that a name stands for; undefined for names that we do not know or that stand for several licenses. */
export function aliasOf(name: string): string | undefined {
  table ??= new Map(
    Object.entries(aliases).flatMap(([id, names]) =>
      [id, ...names].map((known): [string, string] => [simplify(known), id]),
    ),
  );
  return table.get(simplify(name));
}

/** Whether a text says that no license is stated. */
export function saysNothing(text: string): boolean {
  return nothing.has(text.trim().toLowerCase().replace(/\.$/, ""));
}

/** Without what does not tell licenses apart: case, punctuation, "the", "license", "version", `.0`; with short names of GNU licenses. */
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
