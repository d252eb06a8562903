import { aliasOf, proprietary, saysNothing } from "./license-aliases.ts";
import { toExpression } from "./license-expression.ts";

/** What the `license` field of a skill says. */
export interface StatedLicense {
  /** SPDX expression; undefined if the field does not say which license, or not in words that we know. */
  readonly expression: string | undefined;
  /** Paths of files that it refers to, as written. */
  readonly references: readonly string[];
  /** It says neither a license nor where one is. */
  readonly saysNothing: boolean;
}

/** Reads the `license` field. Pure; never guesses a version, nor whether later versions may be chosen. */
export function readLicense(text = ""): StatedLicense {
  const { rest, references } = separateReferences(text.trim());
  return {
    expression: expressionOf(rest),
    references,
    saysNothing: text.trim() === "" || saysNothing(text),
  };
}

function expressionOf(text: string): string | undefined {
  if (text === "") return undefined;
  // First the names, so that `GPL-2.0+` and `gpl-2.0+` are the same.
  return aliasOf(text) ?? toExpression(text) ?? ofNames(text) ?? ofSeveral(text) ?? ofOwner(text);
}

/** `MIT License (MIT)`: two names of the same license. */
function ofNames(text: string): string | undefined {
  const [, name = "", other = ""] = /^([^()]+)\(([^()]+)\)$/.exec(text) ?? [];
  const id = aliasOf(name) ?? toExpression(name);
  return id !== undefined && id === (aliasOf(other) ?? toExpression(other)) ? id : undefined;
}

/** `MIT or Apache 2.0`; not of both words, where only parentheses would tell what belongs together. */
function ofSeveral(text: string): string | undefined {
  for (const word of ["or", "and"]) {
    const names = text.split(new RegExp(`\\s+${word}\\s+`, "i"));
    const ids = names.map((name) => aliasOf(name) ?? toExpression(name));
    if (names.length > 1 && !ids.some((id) => id === undefined || /\s/.test(id)))
      return ids.join(` ${word.toUpperCase()} `);
  }
  return undefined;
}

/** `Proprietary - internal use only`, `© 2025 Example. All rights reserved.` */
function ofOwner(text: string): string | undefined {
  if (/\bor\b/i.test(text)) return undefined;
  const isOwned =
    /^(?:proprietary|confidential)\b/i.test(text) || /^(?:copyright|\(c\)|©).*\ball rights reserved\.?$/i.test(text);
  return isOwned ? proprietary : undefined;
}

const address = /\bhttps?:\/\/\S*/gi;
/** `LICENSE.txt`, `./licenses/own.md`; `LICENSE` only after words such as "see" and "in". */
const fileName =
  /(?<![\w./-])(?:\.{0,2}\/)?(?:[\w.-]{1,64}\/){0,4}(?:[\w.-]{1,64}\.(?:txt|md|rst)|(?<=\b(?:[Ss]ee|SEE|[Ii]n|IN|file|to)\s+(?:the\s+|file\s+)?)[\w-]{0,32}(?:LICEN[CS]E|COPYING)[\w-]{0,32}(?!\s+(?:in|IN)\b))(?![\w/-])/g;
/** Ends of clauses; not the dots in numbers and file names. */
const clauseEnd = /[.;,]\s+|[.;,]$|\s[-–—]\s|[–—()]/;

/** Splits off the clauses that refer to files. */
function separateReferences(text: string): { readonly rest: string; readonly references: readonly string[] } {
  const references = text.replace(address, " ").match(fileName) ?? [];
  if (references.length === 0) return { rest: text, references };
  const kept = text.split(clauseEnd).filter((clause) => !references.some((reference) => clause.includes(reference)));
  return { rest: kept.join(" ").replace(/\s+/g, " ").trim(), references: [...new Set(references)] };
}
