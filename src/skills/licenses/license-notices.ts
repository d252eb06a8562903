import { withoutCopyrightLines } from "./copyright-lines.ts";
import { toExpression } from "./license-expression.ts";
import { readLicense } from "./read-license.ts";

/** Longer texts are terms of their own, which may mention other licenses. */
const longestNotice = 2000;
const longestStatement = 120;

/** What `SPDX-License-Identifier:` lines say. */
export function findTags(text: string): readonly string[] {
  const tags = text.slice(0, 4096).matchAll(/\bSPDX-License-Identifier:[ \t]*([A-Za-z0-9.+:() -]{1,200})/g);
  return [...tags].flatMap(([, tag = ""]) => toExpression(tag) ?? []);
}

/**
 * The license that a short text names instead of containing it: the notices of the GNU licenses and of Apache-2.0, and statements such as
 * "Licensed under the MIT License."; undefined if it says anything else.
 */
export function findNotice(text: string): string | undefined {
  if (text.length > longestNotice) return undefined;
  const plain = onOneLine(text);
  const gnu = gnuNotice.exec(plain);
  if (gnu !== null) return gnuLicense(gnu);
  if (apacheNotice.test(plain)) return "Apache-2.0";
  const statement = withoutCopyrightLines(text)
    .split("\n")
    .map((line) => line.replace(/^[\s#>*/]+|[\s*/]+$/g, ""))
    .filter((line) => line !== "" && !/^licen[cs]e:?$/i.test(line))
    .join(" ");
  return statement.length > longestStatement ? undefined : readLicense(statement).expression;
}

/** Where the text of a GNU license begins; its appendix contains the notice as an example. */
const gnuText = "everyone is permitted to copy and distribute verbatim copies";

/** The GNU license that a notice before the text of a GNU license names, if it says whether later versions may be chosen. */
export function findGnuNotice(text: string): string | undefined {
  const [before = ""] = onOneLine(text.slice(0, 4096)).split(gnuText, 1);
  const notice = gnuNotice.exec(before);
  return notice === null ? undefined : gnuLicense(notice);
}

const gnuNotice =
  /\bunder the terms of the gnu (lesser |library |affero )?general public license as published by the free software foundation[,;:]? (?:either )?version (\d)(?:\.(\d))? (?:of the license,? )?(or \(?at your option\)? any later version|only)?/;
const apacheNotice =
  /\blicensed under the apache license, version 2\.0 \(the "license"\); you may not use .* limitations under the license\.?(?: \*\/| -->)?$/;

function gnuLicense([, kind = "", major = "", minor = "0", form]: RegExpExecArray): string | undefined {
  const name = { "lesser ": "LGPL", "library ": "LGPL", "affero ": "AGPL" }[kind] ?? "GPL";
  const id = `${name}-${major}.${minor}`;
  return toExpression(form === undefined ? id : `${id}${form === "only" ? "-only" : "-or-later"}`);
}

function onOneLine(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/^[ \t]*(?:[#*>]+|\/\/|\/\*)[ \t]?/gm, "")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}
