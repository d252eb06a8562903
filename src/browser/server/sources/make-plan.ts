import { SkillsError } from "../../../base/errors.ts";
import {
  type UpdateLookup,
  compareUpdate,
  failuresOf,
  findUpdates,
  planUpdate,
  versionWords,
  type UpdateDiff,
  latestWords,
} from "../../../sources/update.ts";
import { lockedKey, lossWords, notInLock } from "../../../sources/installed.ts";
import {
  type ConfirmedInstall,
  type PlannedInstall,
  chooseSkills,
  downloadAll,
  planInstalls,
  readNow,
  reasonLines,
  renameWords,
  type Downloaded,
  wantedWords,
} from "../../../sources/install.ts";
import type { Lock } from "../../../sources/lock.ts";
import { namedSources, readLock } from "../../../sources/lock-file.ts";
import { type SkillsPlace, findSkillsDirectory } from "../../../sources/skills-place.ts";
import { parseSource } from "../../../sources/source.ts";
import type { PlanRequest, PlannedChange, PlannedFile } from "../../wire/sources.ts";
import type { BrowseDoor } from "../browse-door.ts";
import { toSkillsPlace } from "./places.ts";
import type { LimitedSourceReader } from "./limited-source-reader.ts";
import type { RemoteIndex } from "../../../sources/reader.ts";
import { unifiedDiff } from "../../../base/text/unified-diff.ts";

/** What would be installed, with its bytes, and over what. */
export interface MadePlan {
  readonly where: SkillsPlace;
  readonly lock: Lock;
  readonly decided: readonly ConfirmedInstall[];
  readonly changes: readonly PlannedChange[];
  readonly problems: readonly string[];
}

interface Planning {
  readonly sourceReader: LimitedSourceReader;
  readonly door: Pick<BrowseDoor, "directory" | "home" | "allowPrivate">;
  readonly signal: AbortSignal;
}

/** Downloads and compares what a person requests; writes nothing. What is refused is a change with the sentence of the command. */
export async function makePlan(request: PlanRequest, planning: Planning): Promise<MadePlan> {
  const where = toSkillsPlace(request.place, planning.door);
  const lock = readLock(where);
  return "update" in request
    ? await planUpdates(request.update, { where, lock }, planning)
    : await planNew(request, { where, lock }, planning);
}

type Over = Pick<MadePlan, "where" | "lock">;

async function planNew(
  { source: text, names }: Extract<PlanRequest, { source: string }>,
  { where, lock }: Over,
  { sourceReader, signal }: Planning,
): Promise<MadePlan> {
  const source = parseSource(text);
  const { index, found } = await sourceReader.read({ typed: [source], signal }, async (reader, reading) => {
    const read = await readNow(reader, source, reading);
    return { index: read, found: await downloadAll(chooseSkills(read, names), { reader, signal: reading }) };
  });
  const { plans, refusals } = await planInstalls(found, {
    index,
    lock,
    skills: findSkillsDirectory(where),
    discardsChanges: false,
    replacesOthers: false,
    isAsked: true,
  });
  const shown = createShownChanges();
  const changes: PlannedChange[] = [];
  const decided: ConfirmedInstall[] = [];
  for (const planned of plans) {
    signal.throwIfAborted();
    const one = decidedOf(planned, index);
    if (one !== undefined) decided.push(one);
    if (planned.plan.act !== "nothing") changes.push(await showNew(planned, { index, lock, shown }));
  }
  const planned = new Set(plans.map(({ downloaded }) => downloaded.remote.name));
  const failed = refusals.filter(({ name }) => !planned.has(name));
  return {
    where,
    lock,
    decided,
    changes,
    problems: reasonLines(failed, " cannot be installed"),
  };
}

function decidedOf({ downloaded, plan }: PlannedInstall, index: RemoteIndex): ConfirmedInstall | undefined {
  if (plan.act === "refuse" || plan.act === "nothing") return undefined;
  return { act: plan.act, key: downloaded.inspected.key, index, downloaded, seen: plan.seen };
}

async function showNew(
  { downloaded, plan }: PlannedInstall,
  { index, lock, shown }: { readonly index: RemoteIndex; readonly lock: Lock; readonly shown: ShownChanges },
): Promise<PlannedChange> {
  const { inspected, files } = downloaded;
  const { key } = inspected;
  const renamed = renameWords(inspected);
  const seen = plan.act === "refuse" ? undefined : plan.seen;
  const before = seen === undefined ? undefined : lock.entries.get(key);
  const change = shown.toChange(downloaded, await compareUpdate(key, seen?.files ?? [], files, inspected));
  return {
    ...change,
    ...(renamed !== undefined && { problems: [{ severity: "warning", words: renamed }, ...change.problems] }),
    name: key,
    source: index.source.label,
    action: plan.act === "adopt" ? "note" : plan.act === "replace" ? "update" : "install",
    ...(before !== undefined && { from: versionWords(before) }),
    ...(plan.act === "refuse" && { refused: plan.what }),
  };
}

async function planUpdates(
  names: readonly string[],
  { where, lock }: Over,
  { sourceReader, door: { allowPrivate }, signal }: Planning,
): Promise<MadePlan> {
  const keys = new Set(names.length === 0 ? lock.entries.keys() : names.map((name) => keyOf(lock, name)));
  const entries = [...lock.entries].filter(([key]) => keys.has(key));
  const named = namedSources(lock);
  const skills = findSkillsDirectory(where);
  const restored = ["missing"] as const;
  const found = await sourceReader.read({ typed: named.typed, signal }, (reader, reading) =>
    findUpdates({ where, entries, skills, reader, named, allowPrivate, restored, signal: reading }),
  );
  const shown = createShownChanges();
  const changes: PlannedChange[] = [];
  const decided: ConfirmedInstall[] = [];
  const problems = [...failuresOf(found)];
  for (const one of found) {
    signal.throwIfAborted();
    const planned = await planOne(one, shown);
    if (planned?.problem !== undefined) problems.push(planned.problem);
    if (planned?.change !== undefined) changes.push(planned.change);
    if (planned?.decided !== undefined) decided.push(planned.decided);
  }
  return { where, lock, decided, changes, problems };
}

interface PlannedUpdate {
  readonly decided?: ConfirmedInstall;
  readonly change?: PlannedChange;
  readonly problem?: string;
}

async function planOne(found: UpdateLookup, shown: ShownChanges): Promise<PlannedUpdate | undefined> {
  const { key, entry, installed, latest, source } = found;
  if ("why" in latest) return undefined;
  if (latest.state === "current") {
    if (installed.state !== "changed") return undefined;
    return { problem: `${key}: nothing newer, but ${lossWords(installed, "restores") ?? ""}` };
  }
  const { downloaded, state } = latest;
  const { inspected, files } = downloaded;
  const seen = installed.state === "missing" ? [] : installed.installed.files;
  const update = await compareUpdate(key, seen, files, inspected);
  const plan = planUpdate(found, latest, { ...update, discardsChanges: false });
  const isSameVersion = state === "updated" && entry.version === inspected.version && inspected.version !== "0.0.0";
  const isRefused = "why" in plan;
  const change: PlannedChange = {
    ...shown.toChange(downloaded, update),
    name: key,
    source,
    action: installed.state === "missing" ? "install" : !isRefused && plan.act === "adopt" ? "note" : "update",
    from: versionWords(entry),
    ...(isSameVersion && { isSameVersion }),
    ...(isRefused && { refused: plan.why }),
  };
  return isRefused ? { change } : { change, decided: plan };
}

function keyOf(lock: Lock, name: string): string {
  const key = lockedKey(lock, name);
  if (key === undefined) throw new SkillsError("SKILL_NOT_FOUND", notInLock(lock, name));
  return key;
}

/** The changes of one plan as the page shows them: their texts together are limited. */
interface ShownChanges {
  readonly toChange: (
    downloaded: Downloaded,
    update: UpdateDiff,
  ) => Pick<PlannedChange, "description" | "to" | "widened" | "wants" | "problems" | "files" | "moreFiles">;
}

const mostFiles = 50;
/** The lines shown of one file. */
const mostLines = 400;
/** The characters of all diffs of a plan. */
const mostCharacters = 1024 * 1024;
const mostWords = 100;

function createShownChanges(): ShownChanges {
  let left = mostCharacters;

  function toFile({ path, before, after }: UpdateDiff["texts"][number], { added, removed }: UpdateDiff): PlannedFile {
    const change = added.includes(path) ? "added" : removed.includes(path) ? "removed" : "changed";
    const [old, now] = [change === "added" ? "" : before, change === "removed" ? "" : after];
    if (old === undefined || now === undefined || left <= 0) return { path, change };
    const diff = unifiedDiff(old, now, mostLines).join("\n");
    left -= diff.length;
    return { path, change, ...(left >= 0 && { diff }) };
  }

  return {
    toChange(downloaded, update) {
      const { inspected } = downloaded;
      const files = update.texts.slice(0, mostFiles).map((file) => toFile(file, update));
      return {
        description: inspected.description,
        to: latestWords(downloaded),
        widened: update.widened.slice(0, mostWords),
        wants: wantedWords(inspected).slice(0, mostWords),
        problems: inspected.problems.slice(0, mostWords).map(({ severity, file, line, message, fix }) => ({
          severity,
          words: `${file}:${line}: ${message}. ${fix}`,
        })),
        files,
        moreFiles: update.texts.length - files.length,
      };
    },
  };
}
