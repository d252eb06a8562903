import { inDigits } from "./code-points.ts";

/**
 * Characters that a terminal or an editor may interpret: control characters other than line breaks and tabs,
 * bidirectional formatting characters, and lone surrogates.
 */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/u;
const everyControl = new RegExp(controls, "gu");

export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** `\u{1b}` for a character that may be invisible. */
export function toEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Removes control characters and Unicode tags. */
export function withoutControls(text: string): string {
  return withoutTags(hasControls(text) ? text.replace(everyControl, "") : text);
}

/**
 * Applies `clean` to all strings and keys of a value; returns the same object if nothing changed. If two keys become equal, the first one
 * stays.
 */
export function cleanValue(value: unknown, clean = withoutControls): { value: unknown; changed: boolean } {
  if (typeof value === "string") {
    const text = clean(value);
    return { value: text, changed: text !== value };
  }
  if (typeof value !== "object" || value === null) return { value, changed: false };
  if (Array.isArray(value)) {
    const items = value.map((item) => cleanValue(item, clean));
    return items.some(({ changed }) => changed)
      ? { value: items.map((item) => item.value), changed: true }
      : { value, changed: false };
  }
  const cleaned = new Map<string, unknown>();
  let changed = false;
  for (const [key, inner] of Object.entries(value)) {
    const name = clean(key);
    const item = cleanValue(inner, clean);
    changed ||= item.changed || name !== key;
    if (!cleaned.has(name)) cleaned.set(name, item.value);
  }
  return { value: changed ? Object.fromEntries(cleaned) : value, changed };
}

/** All strings and keys of a value, joined by line breaks, so that they can be searched together. */
export function joinedStrings(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  if (Array.isArray(value)) return value.map(joinedStrings).join("\n");
  return Object.entries(value)
    .map(([key, inner]) => `${key}\n${joinedStrings(inner)}`)
    .join("\n");
}

/** Message and fix for a field that contains control characters. */
export function controlsIn(field: string): [message: string, fix: string] {
  return [
    `${field} contains control or bidirectional formatting characters; they are removed`,
    "Remove them; only line breaks and tabs are allowed.",
  ];
}

/** Controls, lone surrogates, and characters that are invisible or reorder text; not joiners, which scripts and emoji need. */
const unwanted =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/gu;

/** Puts an untrusted text on one line of at most `length` characters (code points). */
export function cleanText(text: string, length: number): string {
  // A character has at most two units, so the units that are cut here are never needed.
  const start = text.slice(0, (length + 1) * 4);
  const clean = start.replace(unwanted, " ").replace(/\s+/gu, " ").trim();
  const characters = Array.from(clean);
  return characters.length <= length && start.length === text.length
    ? clean
    : `${characters.slice(0, length - 1).join("").trimEnd()}…`; // prettier-ignore
}

/** Invisible characters by range: all default-ignorable code points of Unicode, and similar ones. */
const table: readonly (readonly [from: number, to: number, name: string])[] = [
  [0x00ad, 0x00ad, "soft hyphen"],
  [0x034f, 0x034f, "combining grapheme joiner"],
  [0x115f, 0x1160, "Hangul filler"],
  [0x17b4, 0x17b5, "Khmer inherent vowel"],
  [0x180b, 0x180f, "Mongolian selector"],
  [0x200b, 0x200b, "zero width space"],
  [0x200c, 0x200c, "zero width non-joiner"],
  [0x200d, 0x200d, "zero width joiner"],
  [0x2060, 0x2060, "word joiner"],
  [0x2061, 0x2064, "invisible operator"],
  [0x2065, 0x2065, "unassigned"],
  [0x206a, 0x206f, "deprecated format character"],
  [0x2800, 0x2800, "braille blank"],
  [0x3164, 0x3164, "Hangul filler"],
  [0xfe00, 0xfe0f, "variation selector"],
  [0xfeff, 0xfeff, "byte order mark"],
  [0xffa0, 0xffa0, "Hangul filler"],
  [0xfff0, 0xfff8, "unassigned"],
  [0xfff9, 0xfffb, "annotation mark"],
  [0x1bca0, 0x1bca3, "shorthand format character"],
  [0x1d173, 0x1d17a, "musical format character"],
  [0xe0000, 0xe007f, "tag"],
  [0xe0080, 0xe00ff, "unassigned"],
  [0xe0100, 0xe01ef, "variation selector"],
  [0xe01f0, 0xe0fff, "unassigned"],
];

const anyInvisible = `[${table.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("")}]`;

/** Scripts that use joiners after letters, and scripts that use zero width spaces between words. */
const joining = scripts(
  ..."Arabic Syriac Mandaic Nko Mongolian Phags_Pa Adlam Hanifi_Rohingya Sogdian Manichaean".split(" "),
  ..."Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala".split(" "),
  ..."Khmer Myanmar Tibetan Balinese Javanese Grantha Newa Tirhuta".split(" "),
);
const spaceless = scripts(..."Thai Lao Khmer Myanmar Tai_Le New_Tai_Lue Tai_Tham Javanese Balinese Tibetan".split(" "));

/** Contexts in which a single invisible character is legitimate. A second one beside it never is, so that none can hide a message. */
const needed = [
  // Emoji sequences, and variation selectors of symbols.
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=[\p{Emoji}\p{S}\p{P}\p{Ideographic}\p{Script=Myanmar}\p{Script=Phags_Pa}])[\ufe00-\ufe0f]`,
  String.raw`(?<=\p{Ideographic})[\u{e0100}-\u{e01ef}]`,
  // Joiners after a letter of a script that uses them.
  String.raw`(?<=(?=${joining})[\p{L}\p{M}])[\u200c\u200d]`,
  String.raw`(?<=\p{Script=Mongolian})[\u180b-\u180f]`,
  String.raw`(?<=(?=${spaceless})[\p{L}\p{M}\p{N}])\u200b`,
  String.raw`\u034f(?=\p{M})`,
  String.raw`(?<=\p{Script=Braille})\u2800|\u2800(?=(?!\u2800)\p{Script=Braille})`,
];

let everyInvisible: RegExp | undefined;

/** Builds the pattern of invisible characters on first use: that takes milliseconds, and most text needs only {@link suspicious}. */
function invisible(): RegExp {
  everyInvisible ??= new RegExp(`(?!${needed.join("|")})${anyInvisible}`, "gu");
  everyInvisible.lastIndex = 0;
  return everyInvisible;
}

/** The code units that an invisible character can start with, for a fast check that nearly all text passes. */
const suspicious = new RegExp(
  `[${table.map(([from, to]) => `${unit(String.fromCodePoint(from))}-${unit(String.fromCodePoint(to))}`).join("")}]`,
);
const tags = /[\u{e0000}-\u{e007f}]/u;
const everyTag = new RegExp(tags, "gu");

/** The first invisible character that is not legitimate in its context, and the number of such characters. */
export interface Invisible {
  readonly character: string;
  readonly offset: number;
  readonly count: number;
}

export function findInvisible(text: string): Invisible | undefined {
  const found = suspicious.test(text) ? invisible().exec(text) : null;
  if (found === null) return undefined;
  return { character: found[0], offset: found.index, count: text.match(invisible())?.length ?? 1 };
}

/** Yields each illegitimate invisible character with its offset. */
export function* everyInvisibleIn(text: string): Generator<Pick<Invisible, "character" | "offset">, void> {
  if (!suspicious.test(text)) return;
  for (const { 0: character, index: offset } of text.matchAll(invisible())) yield { character, offset };
}

/** Replaces each illegitimate invisible character. */
export function replaceInvisible(text: string, replace: (character: string) => string): string {
  return hasInvisible(text) ? text.replace(invisible(), replace) : text;
}

export function hasInvisible(text: string): boolean {
  return suspicious.test(text) && invisible().test(text);
}

export function hasTags(text: string): boolean {
  return tags.test(text);
}

/** Removes Unicode tags, which no script needs and which can spell sentences that only a model reads. */
export function withoutTags(text: string): string {
  return text.includes("\udb40") ? text.replace(everyTag, "") : text;
}

/** Message and fix for a field with a result of {@link findInvisible}. */
export function invisibleIn(field: string, { character, count }: Invisible): [message: string, fix: string] {
  const code = character.codePointAt(0) ?? 0;
  const name = table.find(([from, to]) => from <= code && code <= to)?.[2] ?? "invisible";
  const shown = `U+${code.toString(16).toUpperCase().padStart(4, "0")} (${name})`;
  const what =
    count === 1 ? `an invisible character: ${shown}` : `${inDigits(count)} invisible characters, the first ${shown}`;
  const left = hasTags(character) ? "; Unicode tags are removed" : "";
  return [`${field} contains ${what}${left}`, `Remove ${count === 1 ? "it" : "them"}.`];
}

function scripts(...names: readonly string[]): string {
  return `[${names.map((name) => `\\p{Script_Extensions=${name}}`).join("")}]`;
}

function unit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Characters that draw nothing or reorder visible text, for use inside a character class (flag `u`). They are controls, formats, lone
 * surrogates, line separators, and all that Unicode ignores by default, such as fillers. Some file systems ignore them in names.
 */
export const unseenCharacters = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}`;
