import { signal } from "@preact/signals";
import type { SkillDetail } from "../../../../wire/skills.ts";
import { readFormFields, type Drafts } from "./field-value.ts";

/** What the form of one skill holds; it stays while a person looks elsewhere, and no update changes it. */
export class RunFormState {
  /** The version whose fields are shown, and whose bytes are run. */
  readonly shown = signal<RunnableSkill | undefined>(undefined);
  /** Empty: the entrypoint; else a script. */
  readonly target = signal("");
  readonly drafts = signal<Drafts>({});
  readonly words = signal("");
  readonly stdin = signal("");
  /** Seconds, as typed. */
  readonly timeout = signal("");
  /** The file that was chosen for an argument, by its name. */
  readonly chosen = signal<Readonly<Record<string, SentFile | undefined>>>({});
  /** Files besides those of arguments. */
  readonly files = signal<readonly SentFile[]>([]);
  /** Whether a person has changed something. */
  readonly isTouched = signal(false);
  /** Whether they have tried to run it, so that problems are shown. */
  readonly isTried = signal(false);

  draftOf(name: string): string {
    return this.drafts.value[name] ?? "";
  }

  setDraft(name: string, draft: string): void {
    this.drafts.value = { ...this.drafts.value, [name]: draft };
  }

  setFile(name: string, file: SentFile | undefined): void {
    this.chosen.value = { ...this.chosen.value, [name]: file };
    this.isTouched.value = true;
  }
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

/** What a person is about to run. */
export interface RunDraft {
  /** The slug. */
  readonly skill: string;
  readonly script?: string | undefined;
  /** For a script: `{argv, stdin?}`. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Besides those that arguments name. `name`: of the file. */
  readonly blobs: readonly { readonly id: string; readonly name: string }[];
  readonly timeoutMs?: number | undefined;
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
  const { shown, target, drafts, stdin, files } = form;
  const script = target.value === "" ? undefined : target.value;
  const { args: inputs, problems: wrong } = readFormFields(shown.value?.inputs ?? {}, drafts.value);
  const { words: argv = [], problem } = splitWords(form.words.value);
  const problems = new Map(script === undefined ? wrong : problem === undefined ? [] : [[":words", problem]]);
  const timeout = form.timeout.value.trim();
  const seconds = Number(timeout);
  if (timeout !== "" && !(seconds > 0 && seconds <= maxTimeoutSeconds))
    problems.set(":timeout", `timeout: expected at most ${maxTimeoutSeconds} seconds, and more than 0.`);
  const stored = files.value.filter((file) => file.problem === undefined);
  if (stored.some(({ id }) => id === undefined)) problems.set(":files", "A file is still being sent.");
  const scriptArgs = { ...(argv.length > 0 && { argv }), ...(stdin.value !== "" && { stdin: stdin.value }) };
  const runDraft: RunDraft = {
    skill: shown.value?.row.id ?? "",
    script,
    args: script === undefined ? inputs : scriptArgs,
    blobs: stored.flatMap(({ id, name }) => (id === undefined ? [] : [{ id, name }])),
    timeoutMs: timeout === "" || problems.has(":timeout") ? undefined : Math.max(1, Math.round(seconds * 1_000)),
  };
  return { runDraft, problems };
}

/** The number of arguments that `execute_skill` accepts. */
const maxWords = 256;
const piece = /([ \t\n]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^ \t\n'"\\]+)/sy;

/**
 * Splits a text into words as a POSIX shell would: blanks separate, quotes and backslashes quote. Nothing is expanded: `$`, `*`, `|` and
 * the like are text. `problem`: why there are none.
 */
export function splitWords(text: string): { readonly words?: readonly string[]; readonly problem?: string } {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const [found, blanks, single, double, escaped, plain] = piece.exec(text) ?? [];
    if (found === undefined) return { problem: "A quote is not closed, or a backslash has nothing after it to quote." };
    if (blanks !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
      // A line ends with a backslash where it goes on in the next one.
    } else if (escaped !== "\n")
      word = (word ?? "") + (single ?? double?.replace(/\\\n|\\([$`"\\])/g, "$1") ?? escaped ?? plain ?? "");
  }
  if (word !== undefined) words.push(word);
  if (words.length > maxWords) return { problem: `argv: expected at most ${maxWords} strings, got ${words.length}.` };
  return words.some((one) => one.includes("\0")) ? { problem: "argv: expected strings without NUL." } : { words };
}
