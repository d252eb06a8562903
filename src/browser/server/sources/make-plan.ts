import {
  compareUpdate,
  failuresOf,
  findUpdates,
  planUpdate,
  versionWords,
  type UpdateDiff,
  latestWords,
} from "../../../sources/update.ts";
import { keyInLock, lossWords } from "../../../sources/installed.ts";
import {
  type ConfirmedInstall,
  chooseSkills,
  downloadAll,
  planInstalls,
  readNow,
  reasonLines,
  renameWords,
  type Downloaded,
  wantedWords,
} from "../../../sources/install.ts";
import { signatureWords } from "../../../skills/signature.ts";
import type { Policy } from "../../../runtime/trust.ts";
import type { Lock } from "../../../sources/lock.ts";
import { namedSources, readLock } from "../../../sources/lock-file.ts";
import { type InstallScope, findSkillsDirectory } from "../../../sources/install-scope.ts";
import { parseSource } from "../../../sources/source.ts";
import type { PlanRequest, PlannedChange, PlannedFile } from "../../wire/sources.ts";
import type { BrowseContext } from "../browse-context.ts";
import { toInstallScope } from "./install-scopes.ts";
import type { LimitedRead } from "./limited-source-reader.ts";
import { unifiedDiff } from "../../../base/text/unified-diff.ts";

/** A plan: the skills to install with their bytes, and the files and lock that they replace. */
export interface MadePlan {
  readonly where: InstallScope;
  readonly lock: Lock;
  readonly decided: readonly ConfirmedInstall[];
  readonly changes: readonly PlannedChange[];
  readonly problems: readonly string[];
}

/** The user sees each signature. A change of the signer can be accepted on the command line only. */
const terms = { isAsked: true, allowsSignerChange: false } as const;

interface Planning {
  readonly read: LimitedRead;
  readonly context: Pick<BrowseContext, "directory" | "home" | "allowPrivate">;
  readonly policy: Pick<Policy, "minimumAge" | "deniesSigner">;
  readonly signal: AbortSignal;
}

/** Downloads and compares the requested skills; writes nothing. A refused skill is a change with the sentence of the command. */
export async function makePlan(request: PlanRequest, planning: Planning): Promise<MadePlan> {
  const where = toInstallScope(request.place, planning.context);
  const over = { where, lock: readLock(where), skills: findSkillsDirectory(where) };
  return "update" in request
    ? await planUpdates(request.update, over, planning)
    : await planNew(request, over, planning);
}

interface Over extends Pick<MadePlan, "where" | "lock"> {
  readonly skills: string | undefined;
}

async function planNew(
  { source: text, names }: Extract<PlanRequest, { source: string }>,
  { where, lock, skills }: Over,
  { read, policy: { deniesSigner }, signal }: Planning,
): Promise<MadePlan> {
  const source = parseSource(text);
  const { index, found } = await read({ typed: [source], signal }, async (reader, reading) => {
    const offered = await readNow(reader, source, reading);
    return {
      index: offered,
      found: await downloadAll(chooseSkills(offered, names), source, { reader, deniesSigner, signal: reading }),
    };
  });
  const options = { index, lock, skills, discardsChanges: false, replacesOthers: false, ...terms };
  const { plans, refusals } = await planInstalls(found, options);
  const toChange = createShownChanges();
  const changes: PlannedChange[] = [];
  const decided: ConfirmedInstall[] = [];
  for (const { downloaded, plan } of plans) {
    signal.throwIfAborted();
    if (plan.act === "nothing") continue;
    const { inspected, files } = downloaded;
    const { key } = inspected;
    const seen = plan.act === "refuse" ? undefined : plan.seen;
    if (plan.act !== "refuse") decided.push({ act: plan.act, key, index, downloaded, seen: plan.seen });
    const renamed = renameWords(inspected);
    const before = seen && lock.entries.get(key);
    const change = toChange(downloaded, await compareUpdate(key, seen?.files ?? [], files, inspected));
    changes.push({
      ...change,
      problems: [...(renamed === undefined ? [] : [{ severity: "warning", words: renamed }]), ...change.problems],
      name: key,
      source: index.source.label,
      action: plan.act === "adopt" ? "note" : plan.act === "replace" ? "update" : "install",
      from: before && versionWords(before),
      refused: plan.act === "refuse" ? plan.what : undefined,
    });
  }
  const planned = new Set(plans.map(({ downloaded }) => downloaded.remote.name));
  const failed = refusals.filter(({ name }) => !planned.has(name));
  return { where, lock, decided, changes, problems: reasonLines(failed, " cannot be installed") };
}

async function planUpdates(
  names: readonly string[],
  { where, lock, skills }: Over,
  { read, context: { allowPrivate }, policy: { minimumAge: minimumDays, deniesSigner }, signal }: Planning,
): Promise<MadePlan> {
  const keys = new Set(names.length === 0 ? lock.entries.keys() : names.map((name) => keyInLock(lock, name)));
  const entries = [...lock.entries].filter(([key]) => keys.has(key));
  const named = namedSources(lock);
  const restored = ["missing"] as const;
  const found = await read({ typed: named.typed, signal }, (reader, reading) =>
    findUpdates({
      ...{ where, entries, skills, reader, named, allowPrivate, restored, minimumDays, deniesSigner },
      signal: reading,
    }),
  );
  const toChange = createShownChanges();
  const changes: PlannedChange[] = [];
  const decided: ConfirmedInstall[] = [];
  const problems = [...failuresOf(found)];
  for (const one of found) {
    signal.throwIfAborted();
    const { key, entry, installed, latest, source } = one;
    if ("why" in latest) continue;
    if (latest.state === "current") {
      if (installed.state === "changed")
        problems.push(`${key}: nothing newer, but ${lossWords(installed, "restores") ?? ""}`);
      continue;
    }
    const { downloaded, state } = latest;
    const { inspected, files } = downloaded;
    const seen = installed.state === "missing" ? [] : installed.installed.files;
    const update = await compareUpdate(key, seen, files, inspected);
    const plan = planUpdate(one, latest, { ...update, discardsChanges: false, ...terms });
    const isNoted = !("why" in plan) && plan.act === "adopt";
    const isSameVersion = state === "updated" && entry.version === inspected.version && inspected.version !== "0.0.0";
    changes.push({
      ...toChange(downloaded, update),
      name: key,
      source,
      action: installed.state === "missing" ? "install" : isNoted ? "note" : "update",
      from: versionWords(entry),
      isSameVersion: isSameVersion || undefined,
      refused: "why" in plan ? plan.why : undefined,
    });
    if (!("why" in plan)) decided.push(plan);
  }
  return { where, lock, decided, changes, problems };
}

type ShownChange = Pick<
  PlannedChange,
  "signature" | "description" | "to" | "widened" | "wants" | "problems" | "files" | "moreFiles"
>;

const maxFiles = 50;
/** The maximum number of lines shown of one diff. */
const maxLines = 400;
/** The maximum number of characters of all diffs of a plan. */
const maxDiffLength = 1024 * 1024;
const maxWords = 100;

/** Makes the function that shows the changes of one plan. All diffs together have at most `maxDiffLength` characters. */
function createShownChanges(): (downloaded: Downloaded, update: UpdateDiff) => ShownChange {
  let left = maxDiffLength;

  function toFile({ path, before, after }: UpdateDiff["texts"][number], { added, removed }: UpdateDiff): PlannedFile {
    const change = added.includes(path) ? "added" : removed.includes(path) ? "removed" : "changed";
    const [old, now] = [change === "added" ? "" : before, change === "removed" ? "" : after];
    if (old === undefined || now === undefined || left <= 0) return { path, change };
    const diff = unifiedDiff(old, now, maxLines).join("\n");
    left -= diff.length;
    return { path, change, diff: left >= 0 ? diff : undefined };
  }

  return (downloaded, update) => {
    const { inspected, signature } = downloaded;
    const files = update.texts.slice(0, maxFiles).map((file) => toFile(file, update));
    return {
      signature: { state: signature.state, words: signatureWords(signature) },
      description: inspected.description,
      to: latestWords(downloaded),
      widened: update.widened.slice(0, maxWords),
      wants: wantedWords(inspected).slice(0, maxWords),
      problems: inspected.problems.slice(0, maxWords).map(({ severity, file, line, message, fix }) => ({
        severity,
        words: `${file}:${line}: ${message}. ${fix}`,
      })),
      files,
      moreFiles: update.texts.length - files.length,
    };
  };
}
