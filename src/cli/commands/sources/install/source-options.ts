import { existsSync } from "node:fs";
import { namedSources } from "../../../../sources/lock-file.ts";
import type { Lock } from "../../../../sources/lock.ts";
import { type UpdateLookup, findUpdates } from "../../../../sources/update.ts";
import { type InstallScope, globalScope, projectScope } from "../../../../sources/install-scope.ts";
import { levels } from "../../../../skills/rules.ts";
import { existingDirectory, givenPolicy } from "../../../arguments/values.ts";
import { allowPrivate, cwd, json, token, tokensByOrigin, trustedRoot } from "../../../arguments/shared-options.ts";
import { type OptionTable, type OptionValues, choice, flag, texts, type ExitCode } from "../../../command.ts";
import { type Terminal, interruptible } from "../../../report/terminal.ts";
import { type Policy, createPolicies } from "../../../../runtime/trust.ts";
import type { SourceLister } from "../../../../sources/reader.ts";
import type { Source } from "../../../../sources/source.ts";
import { openSignatures } from "../../../../skills/signature.ts";
import type { Question } from "../../../../runtime/question.ts";
import { safeText } from "../../../report/safe-text.ts";
import { localLedger } from "../../../../runtime/ledger.ts";
import { defaultDataDirectory } from "../../../../base/paths/directories.ts";

/** Options of every command that works with a lock. */
export const scopeOptions = {
  global: flag("Your own skills, in ~/.agents/skills, instead of the project's.", "g"),
  cwd,
  json,
} as const satisfies OptionTable;

/** Options of the commands that ask sources. */
const asking = { "allow-private": allowPrivate, token } as const satisfies OptionTable;

export const lockNotes = [
  "Skills are installed into .agents/skills; skills-lock.json records where each came from. With --global: ~/.agents/skills and ~/.agents/.skill-lock.json. The skills package (npx skills) reads and writes the same files.",
] as const;

/** The scope of an installation by `--global` and `--cwd`. Throws INVALID_OPTIONS for a directory that cannot be read. */
export function scopeFromOptions(options: OptionValues<typeof scopeOptions>, terminal: Terminal): InstallScope {
  if (options.global === true) return globalScope(terminal.home, process.env);
  return projectScope(existingDirectory("--cwd", options.cwd), terminal.home, process.env);
}

/** Options of the commands that install: which skills they refuse, besides those that no agent would be offered, and what may be lost. */
export const installing = {
  level: choice(levels, "Refuse skills with errors at this level of acp-skills check."),
  "discard-changes": flag("Replace skills changed here, or without a hash in the lock; the changes are lost."),
  "allow-signer-change": flag("Accept another signer than the one in the lock, or none."),
} as const satisfies OptionTable;

/** A sentence that a lock names no skills or does not exist, with its path: the user may be in an unexpected directory. */
export function emptyWords({ lockFile }: InstallScope): string {
  return `${lockFile} ${existsSync(lockFile) ? "names no skills" : "does not exist; acp-skills add SOURCE writes it"}`;
}

/** Options of the commands that ask the sources of the lock again. */
export const recheckOptions = {
  "trusted-root": trustedRoot,
  source: texts("URL", "The full URL of a source with a secret, or that is read over ssh. Repeatable."),
  ...asking,
  ...scopeOptions,
} as const satisfies OptionTable;

/**
 * Opens a reader of sources for `work`, closes it, and returns the exit code. `typed`: the sources that the user named now. Unlike those
 * of a lock, they may be on this machine, and tokens without an origin are for them. `directory`: the one whose policies apply.
 */
export async function withReader(
  { "allow-private": allowPrivate = [], token }: OptionValues<typeof asking>,
  typed: readonly Source[],
  directory: string,
  terminal: Terminal,
  work: (reader: SourceLister, signal: AbortSignal, policy: Policy) => Promise<ExitCode>,
): Promise<ExitCode> {
  const policy = createPolicies({ given: givenPolicy(), home: terminal.home, log: terminal.log }).policyFor(directory);
  const { openSourceReader } = await import("../../../../sources/reader.ts");
  const reader = openSourceReader({
    allowPrivate,
    typed: typed.map(({ url }) => url),
    tokens: token && tokensByOrigin(token, typed),
    denied: (url) => policy.deniesSource(url),
    project: directory,
  });
  return await interruptible(terminal, async (signal) => {
    try {
      return await work(reader, signal, policy);
    } finally {
      terminal.progress.done();
      await reader.close();
    }
  });
}

type UpdateSearch = Omit<
  Parameters<typeof findUpdates>[0],
  "reader" | "signatures" | "deniesSigner" | "named" | "allowPrivate" | "signal"
>;

/** Finds the updates in the sources of a lock, and calls `work` with them. Returns the exit code. */
export async function withUpdates(
  options: OptionValues<typeof recheckOptions>,
  lock: Lock,
  search: UpdateSearch,
  terminal: Terminal,
  work: (found: readonly UpdateLookup[], signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { source, "allow-private": allowPrivate } = options;
  const named = namedSources(lock, source);
  const signatures = openSignatures(options["trusted-root"]);
  await signatures.check();
  return await withReader(options, named.typed, search.where.base, terminal, async (reader, signal, policy) => {
    terminal.progress.show("asking the sources");
    const found = await findUpdates({
      ...search,
      reader,
      signatures,
      deniesSigner: policy.deniesSigner,
      named,
      allowPrivate,
      minimumDays: policy.minimumAge,
      signal,
    });
    terminal.progress.done();
    return await work(found, signal);
  });
}

/**
 * Whether the user agrees: by `--yes`, or by an answer at the terminal. If nobody can be asked, the answer is no, and a note names
 * `--yes`.
 */
export async function confirm(
  title: string,
  label: string,
  { yes, terminal, signal }: { yes: boolean | undefined; terminal: Terminal; signal: AbortSignal },
): Promise<boolean> {
  if (yes === true) return true;
  const { ask } = terminal;
  if (ask === undefined) {
    terminal.note(`${title} Nobody can be asked here: add --yes. Nothing was changed.`);
    return false;
  }
  const options: Question["options"] = [
    { answer: "once", label, kind: "allow_once" },
    { answer: "not-now", label: "Change nothing", kind: "reject_once" },
  ];
  const { answer } = await ask(
    { about: "run", title: safeText(title), options, wants: [], widened: [], changed: [] },
    signal,
  );
  return answer === "once";
}

/** A change of an installed skill. */
export interface RecordedInstall {
  readonly name: string;
  readonly about: string;
  readonly version?: string | undefined;
  readonly digest?: string | undefined;
}

/**
 * Records changes of installed skills before they are made: a killed command may leave a row too many, but never a change without a row.
 */
export function recordInstalls(
  { form, base }: InstallScope,
  event: "add" | "update" | "remove",
  installs: readonly RecordedInstall[],
  terminal: Pick<Terminal, "home" | "log">,
): void {
  const ledger = localLedger(defaultDataDirectory(terminal.home), terminal);
  const ofProject = form === "project" ? { project: base } : {};
  for (const { name: skill, about, version, digest } of installs) {
    const facts = { ...(version !== undefined && { version }), ...(digest !== undefined && { digest }) };
    ledger.record({ at: Date.now(), event, tool: "skills", ...ofProject, skill, ...facts, about, door: "cli" });
  }
  ledger.close();
}
