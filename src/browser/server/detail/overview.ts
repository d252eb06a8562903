import { hash } from "node:crypto";
import type { HeadReader } from "../../../skills/files.ts";
import { findFrontmatter, isYaml } from "../../../skills/manifest.ts";
import { readSkillDocument } from "../../../skills/document.ts";
import { attempt } from "../../../base/failures/system-error.ts";
import { endOfText } from "../../../base/text/content.ts";
import { everyInvisibleIn } from "../../../base/text/unsafe-characters.ts";
import type { SkillDetail } from "../../wire/skills.ts";

/** A SKILL.md as it is written. Nothing is removed from its text, so that hidden characters can be shown. */
export interface ShownDocument {
  readonly markdown: string;
  readonly isWhole: boolean;
  /** The SHA-256 of all bytes; absent for a file that is too long to be read completely. */
  readonly sha256?: string;
  /** Parses the frontmatter; the result is empty if that is not possible. */
  readonly frontmatter: () => Readonly<Record<string, unknown>>;
}

const shownBytes = 1024 * 1024;
/** The maximum number of bytes of the frontmatter, with its fences. */
const frontmatterBytes = 256 * 1024 + 64;

/** Reads a SKILL.md. Throws UNREADABLE. */
export function readDocument(files: HeadReader, file: string): ShownDocument {
  const { bytes: shared, whole } = files.head(file, shownBytes + frontmatterBytes);
  const bytes = Buffer.from(shared);
  const found = findFrontmatter(bytes, true);
  const hasFrontmatter = found.kind === "found" && isYaml(found.language);
  const body = hasFrontmatter ? bytes.subarray(found.bodyStart) : bytes;
  const isWhole = whole && body.length <= shownBytes;
  const shown = body.subarray(0, shownBytes);
  return {
    markdown: (isWhole ? shown : shown.subarray(0, endOfText(shown))).toString("utf8").replace(/^\ufeff/, ""),
    isWhole,
    ...(whole && { sha256: hash("sha256", bytes, "hex") }),
    frontmatter: () => (hasFrontmatter ? frontmatterOf(bytes.subarray(0, found.bodyStart)) : {}),
  };
}

function frontmatterOf(head: Buffer): Readonly<Record<string, unknown>> {
  // If the frontmatter cannot be read, the problems of the skill say why.
  return attempt(() => readSkillDocument(head.toString("utf8")).frontmatter, {});
}

type Hidden = SkillDetail["hidden"][number];

/** The maximum number of findings listed; one is enough to inspect the source. */
const maxHidden = 1_000;
const maxTextLength = 2_000;

const tags = /[\u{e0000}-\u{e007f}]/u;
const forms: readonly (readonly [kind: Hidden["kind"], form: RegExp, toText: (found: string) => string])[] = [
  // A fence, which the first group marks, is matched only to skip its comments. A comment that is not closed ends with the text.
  ["comment", /^ {0,3}(`{3,}|~{3,})[^]*?(?:\n {0,3}\1|$(?![^]))|<!--[^]*?(?:-->|$(?![^]))/gm, (text) => text],
  ["tag-characters", /[\u{e0000}-\u{e007f}]+/gu, fromTags],
  ["bidi", /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, toCodes],
  ["control", /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]+/g, toCodes],
];

/** Finds the text, in order, that the user does not see when Markdown is rendered. Comments in fenced code are visible. */
export function findHidden(markdown: string): readonly Hidden[] {
  const found: Hidden[] = [];
  for (const [kind, form, toText] of forms)
    for (const { 0: text, 1: fence, index: start } of markdown.matchAll(form)) {
      if (found.length >= maxHidden) break;
      if (fence === undefined) found.push({ kind, start, end: start + text.length, text: cut(toText(text)) });
    }
  const runs: { readonly start: number; end: number }[] = [];
  for (const { character, offset: start } of everyInvisibleIn(markdown)) {
    if (found.length + runs.length >= maxHidden) break;
    const last = runs.at(-1);
    if (tags.test(character)) continue;
    if (last?.end === start) last.end += character.length;
    else runs.push({ start, end: start + character.length });
  }
  for (const { start, end } of runs)
    found.push({ kind: "zero-width", start, end, text: cut(toCodes(markdown.slice(start, end))) });
  return found.sort((a, b) => a.start - b.start).slice(0, maxHidden);
}

/** The text that a model can read in tag characters. */
function fromTags(tags: string): string {
  return Array.from(tags, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000)).join("");
}

function toCodes(characters: string): string {
  const shown = Array.from(characters.slice(0, maxTextLength / 4));
  return shown.map((one) => `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");
}

function cut(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
