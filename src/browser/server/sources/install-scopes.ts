import { setImmediate } from "node:timers/promises";
import { homePath } from "../../../base/paths/location.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { differenceWords, stateOf } from "../../../sources/installed.ts";
import { type LockEntry, shownSource } from "../../../sources/lock.ts";
import { readLock, findLocked, sourceOfEntry } from "../../../sources/lock-file.ts";
import {
  type InstallScope,
  findSkillsDirectory,
  globalScope,
  projectScope,
  shownSkillsDirectory,
} from "../../../sources/install-scope.ts";
import {
  type InstalledSkill,
  type ScopeName,
  type SourceList,
  type Discovered,
  scopeNames,
} from "../../wire/sources.ts";
import type { DisplayRoots } from "../browse-context.ts";
import { readNow } from "../../../sources/install.ts";
import { useOfSkill } from "../../../sources/invoke.ts";
import { parseSource } from "../../../sources/source.ts";
import type { LimitedRead } from "./limited-source-reader.ts";
import type { RemoteIndex } from "../../../sources/reader.ts";

const maxSkills = 500;
const maxChanges = 10;

export function toInstallScope(scope: ScopeName, { directory, home }: DisplayRoots): InstallScope {
  return scope === "project" ? projectScope(directory, home, process.env) : globalScope(home, process.env);
}

export function shownDirectory(where: InstallScope, { home }: DisplayRoots): string {
  return homePath(shownSkillsDirectory(where), home);
}

/** Lists the skills in the locks of both scopes, with their state on disk. A lock that cannot be read does not hide the other. */
export async function listInstalled(context: DisplayRoots, signal: AbortSignal): Promise<SourceList> {
  const scopes: SourceList["places"][number][] = [];
  for (const scope of scopeNames) {
    const where = toInstallScope(scope, context);
    const shown = { place: scope, directory: shownDirectory(where, context) };
    try {
      const entries = [...readLock(where).entries];
      const directory = findSkillsDirectory(where);
      const skills: InstalledSkill[] = [];
      for (const [name, entry] of entries.slice(0, maxSkills)) {
        // The files of each skill are read synchronously, so other work has its turn between two skills.
        await setImmediate();
        signal.throwIfAborted();
        skills.push(await showInstalled(directory, name, entry));
      }
      scopes.push({ ...shown, skills, more: entries.length - skills.length });
    } catch (error) {
      if (!isSkillsError(error) || signal.aborted) throw error;
      scopes.push({ ...shown, fault: error.message, skills: [], more: 0 });
    }
  }
  return { places: scopes };
}

const states = { missing: "missing", unchanged: "verified", unverifiable: "unknown", changed: "modified" } as const;

async function showInstalled(skills: string | undefined, name: string, entry: LockEntry): Promise<InstalledSkill> {
  const { version, sourceType } = entry;
  const shown = { name, source: shownSource(entry), version };
  // The skill is a link into `node_modules`.
  if (sourceType === "node_modules") return { ...shown, state: "unknown", changes: ["It is from an npm package."] };
  try {
    const found = await stateOf(skills, name, entry);
    const changes = found.state === "changed" ? differenceWords(found.difference, maxChanges) : undefined;
    return { ...shown, state: states[found.state], changes };
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    return { ...shown, state: "unknown", changes: [error.message] };
  }
}

const maxOffered = 500;
const maxProblems = 20;

/** Reads the skills that a source offers. Rejects with INVALID_OPTIONS for a text that names no source. */
export async function discover(
  text: string,
  read: LimitedRead,
  context: DisplayRoots,
  signal: AbortSignal,
): Promise<Discovered> {
  const source = parseSource(text);
  const index = await read({ typed: [source], signal }, (reader, reading) => readNow(reader, source, reading));
  const installed = scopeNames.map((scope) => [scope, installedNames(scope, index, context)] as const);
  const skills = index.skills.slice(0, maxOffered).map((skill) => {
    const { name, description, version } = skill;
    const use = useOfSkill(skill);
    const scopes = installed.filter(([, names]) => names.has(name)).map(([scope]) => scope);
    return { name, description, version, installed: scopes, unusable: "why" in use ? use.why : undefined };
  });
  const more = index.problems.length - maxProblems;
  const problems = [...index.problems.slice(0, maxProblems), ...(more > 0 ? [`and ${more} more problems`] : [])];
  return { source: source.label, skills, more: index.skills.length - skills.length, problems };
}

/** The names in the index of the skills that are installed from its source. */
function installedNames(scope: ScopeName, index: RemoteIndex, context: DisplayRoots): ReadonlySet<string> {
  const names = new Set<string>();
  try {
    for (const [key, entry] of readLock(toInstallScope(scope, context)).entries) {
      const from = sourceOfEntry(entry, [index.source]);
      const remote = "why" in from || from.url !== index.source.url ? undefined : findLocked(key, entry, index);
      if (remote !== undefined) names.add(remote.name);
    }
  } catch (error) {
    // The list of installed skills says why the lock cannot be read.
    if (!isSkillsError(error)) throw error;
  }
  return names;
}
