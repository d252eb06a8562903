import { signal, type Signal } from "@preact/signals";
import type { SkillDetail } from "../../../../wire/skills.ts";
import type { RunDraft } from "../copy-box.tsx";
import { readFormFields, type Drafts } from "./field-value.ts";

/** What the form of one skill holds; it stays while a person looks elsewhere, and no update changes it. */
export interface RunFormState {
  /** The version whose fields are shown, and whose bytes are run. */
  readonly shown: Signal<RunnableSkill | undefined>;
  /** Empty: the entrypoint; else a script. */
  readonly target: Signal<string>;
  readonly drafts: Signal<Drafts>;
  readonly words: Signal<string>;
  readonly stdin: Signal<string>;
  /** Seconds, as typed. */
  readonly timeout: Signal<string>;
  /** The file that was chosen for an argument, by its name. */
  readonly chosen: Signal<Readonly<Record<string, SentFile>>>;
  /** Files besides those of arguments. */
  readonly files: Signal<readonly SentFile[]>;
  /** Whether a person has changed something. */
  readonly isTouched: Signal<boolean>;
  /** Whether they have tried to run it, so that problems are shown. */
  readonly isTried: Signal<boolean>;
}

export type RunnableSkill = Pick<SkillDetail, "row" | "inputs" | "scripts"> &
  Partial<Pick<SkillDetail, "digest" | "nonce">>;

/** A file that was chosen. `id`: of its blob, once it is stored. */
export interface SentFile {
  readonly key: number;
  readonly name: string;
  readonly sizeBytes: number;
  readonly id?: string;
  readonly problem?: string;
}

export function createRunFormState(): RunFormState {
  return {
    shown: signal(undefined),
    target: signal(""),
    drafts: signal({}),
    words: signal(""),
    stdin: signal(""),
    timeout: signal(""),
    chosen: signal({}),
    files: signal([]),
    isTouched: signal(false),
    isTried: signal(false),
  };
}

/** Shows a version in the form, if that takes nothing away from a person who is filling it in. */
export function followSkill(form: RunFormState, skill: RunnableSkill): void {
  if (form.shown.value === undefined || !form.isTouched.value) showSkillInForm(form, skill);
  // The same bytes, with a nonce of a server that was started anew.
  else if (form.shown.value.digest === skill.digest) form.shown.value = skill;
}

/** Shows a version; what was filled in stays where the fields have the same names. */
export function showSkillInForm(form: RunFormState, skill: RunnableSkill): void {
  form.shown.value = skill;
  const targets = targetsOf(skill);
  if (!targets.includes(form.target.value)) form.target.value = targets[0] ?? "";
}

/** What can be run of a skill; empty: its entrypoint. */
export function targetsOf({ row, scripts }: RunnableSkill): readonly string[] {
  return [...(row.kind === "action" ? [""] : []), ...scripts];
}

const maxTimeoutSeconds = 600;

/** What would be run, and what is wrong with it by field: a name of an input, or one of `:words`, `:timeout`, `:files`. */
export function readForm(form: RunFormState): {
  readonly runDraft: RunDraft;
  readonly problems: ReadonlyMap<string, string>;
} {
  const { shown, target, drafts, words, stdin, timeout, files } = form;
  const script = target.value === "" ? undefined : target.value;
  const split = splitWords(words.value);
  const fields = readFormFields(script === undefined ? (shown.value?.inputs ?? {}) : {}, drafts.value);
  const problems = new Map(fields.problems);
  if (script !== undefined && split.problem !== undefined) problems.set(":words", split.problem);
  const seconds = Number(timeout.value.trim());
  if (timeout.value.trim() !== "" && !(seconds > 0 && seconds <= maxTimeoutSeconds))
    problems.set(":timeout", `timeout: expected at most ${maxTimeoutSeconds} seconds, and more than 0.`);
  const stored = files.value.filter(({ problem }) => problem === undefined);
  if (stored.some(({ id }) => id === undefined)) problems.set(":files", "A file is still being sent.");
  const argv = split.words ?? [];
  const runDraft: RunDraft = {
    skill: shown.value?.row.id ?? "",
    script,
    args:
      script === undefined
        ? fields.args
        : { ...(argv.length > 0 && { argv }), ...(stdin.value !== "" && { stdin: stdin.value }) },
    blobs: stored.flatMap(({ id, name }) => (id === undefined ? [] : [{ id, name }])),
    timeoutMs:
      timeout.value.trim() === "" || problems.has(":timeout") ? undefined : Math.max(1, Math.round(seconds * 1_000)),
  };
  return { runDraft, problems };
}

/** The words of a line, or why it has none. `at` is the place of what is not closed. */
type SplitWords =
  | { readonly words: readonly string[]; readonly problem?: never }
  | { readonly words?: never; readonly problem: string; readonly at: number };

/** The number of arguments that `execute_skill` accepts. */
const maxWords = 256;

/**
 * Splits a text into words as a POSIX shell would: blanks separate, quotes and backslashes quote. Nothing is expanded: `$`, `*`, `|` and
 * the like are text.
 */
export function splitWords(text: string): SplitWords {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (/[ \t\n]/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) return { problem: "This single quote is not closed.", at };
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (character === '"') {
      const quoted = readDoubleQuoted(text, at + 1);
      if (quoted === undefined) return { problem: "This double quote is not closed.", at };
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      if (at + 1 === text.length) return { problem: "This backslash has nothing after it to quote.", at };
      at += 1;
      // A line that goes on in the next one.
      if (text[at] !== "\n") word = (word ?? "") + (text[at] ?? "");
    } else word = (word ?? "") + character;
  }
  if (word !== undefined) words.push(word);
  if (words.length > maxWords)
    return { problem: `argv: expected at most ${maxWords} strings, got ${words.length}.`, at: text.length };
  const nul = words.findIndex((one) => one.includes("\0"));
  return nul === -1 ? { words } : { problem: "argv: expected strings without NUL.", at: text.indexOf("\0") };
}

/** The text up to the closing quote; undefined where there is none. */
function readDoubleQuoted(text: string, start: number): { readonly text: string; readonly end: number } | undefined {
  let quoted = "";
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') return { text: quoted, end: at };
    const next = text[at + 1] ?? "";
    if (character === "\\" && '$`"\\\n'.includes(next) && next !== "") {
      at += 1;
      if (next !== "\n") quoted += next;
    } else quoted += character;
  }
  return undefined;
}
