import { signal } from "@preact/signals";
import type { SkillDetail } from "../../../../wire/skills.ts";
import { readFormFields, type Drafts } from "./field-value.ts";

/** The state of the form of one skill. It stays while the user opens other views, and no update of the skill changes it. */
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
  /** The chosen files of blob arguments, by the name of the argument. */
  readonly chosen = signal<Readonly<Record<string, SentFile | undefined>>>({});
  /** Files besides those of arguments. */
  readonly files = signal<readonly SentFile[]>([]);
  /** Whether the user has changed something. */
  readonly isTouched = signal(false);
  /** Whether the user has tried to run the form, so that problems are shown. */
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

/** A file that the user chose. `id`: the id of its blob, once that is stored. */
export interface SentFile {
  readonly key: number;
  readonly name: string;
  readonly sizeBytes: number;
  readonly id?: string;
  readonly problem?: string;
}

/** The run that the form describes. */
export interface RunDraft {
  /** The slug of the skill. */
  readonly skill: string;
  readonly script?: string | undefined;
  /** For a script: `{argv, stdin?}`. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The blobs besides those that arguments name. `name`: the name of the file. */
  readonly blobs: readonly { readonly id: string; readonly name: string }[];
  readonly timeoutMs?: number | undefined;
}

/** Shows a version in the form, unless the user has begun to fill in the form for another one. */
export function followSkill(form: RunFormState, skill: RunnableSkill): void {
  if (form.shown.value === undefined || !form.isTouched.value) showSkillInForm(form, skill);
  // The bytes are the same, but a restarted server gave a new nonce.
  else if (form.shown.value.digest === skill.digest) form.shown.value = skill;
}

/** Shows a version. Fields of the same name retain what the user filled in. */
export function showSkillInForm(form: RunFormState, skill: RunnableSkill): void {
  form.shown.value = skill;
  const targets = targetsOf(skill);
  if (!targets.includes(form.target.value)) form.target.value = targets[0] ?? "";
}

/** The runnable targets of a skill: its scripts, and the empty string for its entrypoint. */
export function targetsOf({ row, scripts }: RunnableSkill): readonly string[] {
  return [...(row.kind === "action" ? [""] : []), ...scripts];
}

const maxTimeoutSeconds = 600;

/** Reads the form: the run, and the problems by field: the name of an input, or one of `:words`, `:timeout`, `:files`. */
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

/** The maximum number of arguments that `execute_skill` accepts. */
const maxWords = 256;
const piece = /([ \t\n]+)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^ \t\n'"\\]+)/sy;

/**
 * Splits a text into words as a POSIX shell would: blanks separate, quotes and backslashes quote. Nothing is expanded: `$`, `*`, `|` and
 * the like are text. `problem`: why the text cannot be split.
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
      // A backslash at the end of a line joins the line with the next one.
    } else if (escaped !== "\n")
      word = (word ?? "") + (single ?? double?.replace(/\\\n|\\([$`"\\])/g, "$1") ?? escaped ?? plain ?? "");
  }
  if (word !== undefined) words.push(word);
  if (words.length > maxWords) return { problem: `argv: expected at most ${maxWords} strings, got ${words.length}.` };
  return words.some((one) => one.includes("\0")) ? { problem: "argv: expected strings without NUL." } : { words };
}
