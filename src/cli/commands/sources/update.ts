import { type LockDifference, readLock } from "../../../sources/lock-file.ts";
import type { InstallScope } from "../../../sources/install-scope.ts";
import { type OptionValues, defineCommand, flag, exit } from "../../command.ts";
import { safeText } from "../../report/safe-text.ts";
import type { Terminal, Paint } from "../../report/terminal.ts";
import {
  confirm,
  emptyWords,
  installing,
  lockNotes,
  recheckOptions,
  recordInstalls,
  scopeFromOptions,
  withUpdates,
} from "./install/source-options.ts";
import {
  type Latest,
  type Restorable,
  type UpdateDiff,
  type UpdateLookup,
  compareUpdate,
  failuresOf,
  latestWords,
  planUpdate,
  versionWords,
} from "../../../sources/update.ts";
import { keyInLock, lossWords } from "../../../sources/installed.ts";
import { signatureWords } from "../../../skills/signature.ts";
import { shortDigest } from "../../../skills/hash.ts";
import { carryOut, recoverSkillsDirectory } from "../../../sources/install.ts";
import { fileDiff } from "../../report/file-diff.ts";

const options = {
  check: flag("Only show what would change."),
  yes: flag("Update without asking.", "y"),
  ...installing,
  ...recheckOptions,
} as const;

export const command = defineCommand({
  positionals: { name: "NAME", minimum: 0, maximum: Infinity },
  options,
  examples: ["update", "update pdf --yes", "update --check"],
  notes: [
    "Asks the sources of the lock for what they have now, shows what changes in each file and what a skill newly requests, and asks before it replaces anything.",
    "An approval holds for exact bytes: an updated skill is asked about again.",
    ...lockNotes,
    "Exits with 1 if there is an update that was not made, or a skill is not offered any more, with 3 if one cannot be made.",
  ],
  async run({ options: given, positionals }, terminal) {
    const where = scopeFromOptions(given, terminal);
    // Finishes an interrupted installation first.
    const skills = await recoverSkillsDirectory(where, (note) => terminal.note(note));
    const lock = readLock(where);
    const keys =
      positionals.length === 0
        ? [...lock.entries.keys()]
        : [...new Set(positionals)].map((name) => keyInLock(lock, name));
    const { level, "discard-changes": discards } = given;
    const restored = discards === true ? (["missing", "changed"] as const) : (["missing"] as const);
    const entries = [...lock.entries].filter(([key]) => keys.includes(key));
    const search = { where, entries, skills, restored, level };
    return await withUpdates(given, lock, search, terminal, async (found, signal) => {
      for (const failure of failuresOf(found)) terminal.note(failure);
      const results: Result[] = [];
      for (const one of found) results.push(await update(one, { where, given, terminal, signal }));
      if (given.json === true) await terminal.printJson({ skills: results });
      if (results.length === 0) terminal.note(emptyWords(where));
      else if (given.json !== true && results.every(isUpToDate)) terminal.note("everything is up to date");
      if (results.some(({ state }) => state === "refused" || state === "failed")) return exit.unable;
      return results.some(({ state }) => state === "available" || state === "gone") ? exit.found : exit.done;
    });
  },
});

interface Updating {
  readonly where: InstallScope;
  readonly given: OptionValues<typeof options>;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** One skill in the `--json` output; everything else is only printed. `available`: an update that was not made. */
interface Result {
  readonly name: string;
  readonly state: "current" | "updated" | "available" | "refused" | Exclude<Latest["state"], Restorable>;
  readonly why?: string;
  /** The differences between the files of a current skill and the lock. */
  readonly local_changes?: LockDifference;
}

function isUpToDate({ state, local_changes: changes }: Result): boolean {
  return state === "current" && changes === undefined;
}

async function update(found: UpdateLookup, updating: Updating): Promise<Result> {
  const { key, latest, installed } = found;
  if ("why" in latest) return { name: key, state: latest.state, why: latest.why };
  if (latest.state !== "current") return await replaceInstalled(found, latest, updating);
  if (installed.state !== "changed") return { name: key, state: "current" };
  updating.terminal.note(`${key}: nothing newer, but ${lossWords(installed, "restores") ?? ""}`);
  return { name: key, state: "current", local_changes: installed.difference };
}

async function replaceInstalled(
  { key, entry, installed, source }: UpdateLookup,
  found: Extract<Latest, { downloaded: unknown }>,
  { where, given, terminal, signal }: Updating,
): Promise<Result> {
  const { downloaded, state } = found;
  const { inspected, files, signature } = downloaded;
  const seen = installed.state === "missing" ? undefined : installed.installed;
  const diff = await compareUpdate(key, seen?.files ?? [], files, inspected);
  // `0.0.0` is the version of a skill that declares none.
  const isSameVersion = state === "updated" && entry.version === inspected.version && entry.version !== "0.0.0";
  const { renamed, widened, added, removed, changed } = diff;
  const about = {
    name: key,
    from: { version: entry.version ?? null, digest: entry.digest ?? null },
    to: { version: inspected.version, digest: inspected.digest },
    ...(isSameVersion && { same_version: true }),
    signature,
    widened,
    files: { added, removed, changed },
  };
  const latest = latestWords(downloaded);
  const { heading, question, label, done } = wordsOf[state](key, latest, versionWords(entry));
  if (given.json !== true) {
    await terminal.print([`${terminal.paint("bold", safeText(heading))} from ${safeText(source)}\n`]);
    if (isSameVersion) await terminal.print([`  ${terminal.paint("yellow", "same version, other bytes")}\n`]);
    await terminal.print([`  ${signatureWords(signature)}\n`]);
    await terminal.print(describeUpdate(diff, terminal.paint));
  }
  const decided = planUpdate({ key, entry, installed }, found, {
    renamed,
    discardsChanges: given["discard-changes"] === true,
    allowsSignerChange: given["allow-signer-change"] === true,
    isAsked: given.yes !== true,
  });
  if ("why" in decided) {
    terminal.note(`${key}: ${decided.why}`);
    return { ...about, state: "refused", why: decided.why };
  }
  if (given.check === true) return { ...about, state: "available" };
  const title = `${question}${widened.length === 0 ? "" : `, which newly requests ${widened.join(", ")}`}?`;
  if (!(await confirm(title, label, { yes: given.yes, terminal, signal }))) return { ...about, state: "available" };
  const before = entry.digest === undefined ? "" : ` (${shortDigest(entry.digest)})`;
  const flags = (["discard-changes", "allow-signer-change"] as const).filter((name) => given[name] === true);
  const from = `${state}: ${versionWords(entry)}${before}, from ${source}${flags.map((name) => ` --${name}`).join("")}`;
  recordInstalls(where, "update", [{ ...inspected, about: from }], terminal);
  await carryOut(where, readLock(where), [decided]);
  terminal.note(done);
  return { ...about, state: "updated" };
}

const wordsOf = {
  updated: (key: string, latest: string, installed: string) => ({
    heading: `${key} ${installed} → ${latest}`,
    question: `Update ${key} to ${latest}`,
    label: "Update",
    done: `updated ${key} to ${latest}`,
  }),
  missing: (key: string, latest: string) => ({
    heading: `${key} ${latest}: missing here`,
    question: `Install ${key} ${latest} again`,
    label: "Install",
    done: `installed ${key} ${latest} again`,
  }),
  changed: (key: string, latest: string) => ({
    heading: `${key} ${latest}: changed here`,
    question: `Restore ${key} ${latest}, without its local changes`,
    label: "Restore",
    done: `restored ${key} ${latest}`,
  }),
};

const maxFiles = 20;
const maxLines = 100;

/** Shows new capabilities first, then each file as a unified diff. */
function* describeUpdate({ widened, added, removed, texts }: UpdateDiff, paint: Paint): Iterable<string> {
  for (const words of widened) yield `  ${paint("yellow", "NEW:")} ${safeText(words)}\n`;
  for (const file of texts.slice(0, maxFiles)) {
    const { path } = file;
    const before = added.includes(path) ? null : file.before;
    const after = removed.includes(path) ? null : file.after;
    yield* fileDiff({ name: path, before, after, maxLines }, paint);
  }
  if (texts.length > maxFiles) yield `and ${texts.length - maxFiles} more files\n`;
}
