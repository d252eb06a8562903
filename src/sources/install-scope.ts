import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { holdDirectory, joinPath, within } from "../base/paths/at-real-path.ts";
import { isWithin } from "../base/paths/location.ts";
import { fileStamp } from "../base/paths/identity.ts";
import { leadsIntoGit } from "../base/paths/guarded-names.ts";
import { SkillsError } from "../base/errors.ts";
import { attempt } from "../base/failures/system-error.ts";
import type { RemoteRoot } from "../skills/skillset.ts";
import type { LockForm } from "./lock.ts";
import { defaultDataDirectory, namesIn } from "../base/paths/directories.ts";
import { sourceKindOf, parseSource, type Source } from "./source.ts";
import { type StorePaths, copyPath, readState, sourcePaths, storePaths } from "./store/store-paths.ts";

/** The scope of an installation: the directory of its skills and the lock that lists them. */
export interface InstallScope {
  readonly form: LockForm;
  /** The real path of the project or the home directory. */
  readonly base: string;
  readonly lockFile: string;
  /** The directory of the records of running changes, outside any project: see `ChangeRecord`. */
  readonly records: string;
}

/** Returns the scope of a project. `home` and `env` determine the data directory. */
export function projectScope(cwd: string, home: string, env: NodeJS.ProcessEnv): InstallScope {
  const base = realpathSync.native(cwd);
  return { form: "project", base, lockFile: path.join(base, "skills-lock.json"), records: recordsOf(home, env) };
}

/** Returns the scope of this user, as the `skills` package defines it: with `$XDG_STATE_HOME`, the lock is below that directory. */
export function globalScope(home: string, env: NodeJS.ProcessEnv): InstallScope {
  const { XDG_STATE_HOME: state = "" } = env;
  const base = realpathSync.native(home);
  const lockFile =
    state === "" ? path.join(base, ".agents", ".skill-lock.json") : path.join(state, "skills", ".skill-lock.json");
  return { form: "global", base, lockFile, records: recordsOf(home, env) };
}

function recordsOf(home: string, env: NodeJS.ProcessEnv): string {
  return path.join(defaultDataDirectory(home, env), "changes");
}

const segments = [".agents", "skills"] as const;
/** The directories of a project to which a link on the path of its skills directory may lead. */
const linkable = [segments, [".claude", "skills"], ["skills"]];

/** Returns the path of the skills directory as users see it. */
export function shownSkillsDirectory({ base }: InstallScope): string {
  return path.join(base, ...segments);
}

/**
 * Returns the real path of the skills directory; undefined if it is missing. A link in the user's own home is followed. A link in a
 * project came with it, so it may lead only to another skills directory of the project. In a project, no directory may be a repository of
 * git. Throws PERMISSION_DENIED, or UNREADABLE if the path is no directory.
 */
export function findSkillsDirectory(scope: InstallScope): string | undefined {
  return walk(scope, () => undefined);
}

/** Returns the real path of the skills directory, after creating what is missing. */
export function makeSkillsDirectory(scope: InstallScope): string {
  const made = walk(scope, (parent, name) => {
    within(holdDirectory(parent), (held) => mkdirSync(`${held.path}/${name}`, { mode: 0o755 }));
    return joinPath(parent, name);
  });
  if (made === undefined) throw new SkillsError("UNREADABLE", `${shownSkillsDirectory(scope)} cannot be created.`);
  return made;
}

function walk(
  { form, base }: InstallScope,
  make: (parent: string, name: string) => string | undefined,
): string | undefined {
  let real: string | undefined = base;
  for (const [index, name] of segments.entries()) {
    if (real === undefined) return undefined;
    const next = joinPath(real, name);
    const stats = lstatSync(next, { throwIfNoEntry: false });
    if (stats === undefined) real = make(real, name);
    else if (stats.isDirectory()) real = next;
    else if (stats.isSymbolicLink()) real = follow(next, form, base, segments.slice(index + 1));
    else throw new SkillsError("UNREADABLE", `${next} is not a directory; remove it.`, { facts: { path: next } });
    if (form === "project" && real !== undefined && leadsIntoGit(real, base))
      throw refusal(next, "a repository of git");
  }
  return real;
}

function follow(link: string, form: LockForm, base: string, rest: readonly string[]): string {
  let target: string;
  try {
    target = realpathSync.native(link);
  } catch (cause) {
    throw new SkillsError("UNREADABLE", `${link} is a symlink without a target; remove it.`, { cause });
  }
  const end = path.join(target, ...rest);
  if (form === "global" || linkable.some((names) => path.join(base, ...names) === end)) return target;
  const where = isWithin(target, base) ? "to what is no directory of skills" : "out of the project";
  throw refusal(link, `a symlink ${where}, to ${target}`);
}

function refusal(file: string, what: string): SkillsError {
  const fix = "Replace it by a directory, or install for yourself with --global.";
  const message = `${file} is ${what}; nothing is installed or removed there. ${fix}`;
  return new SkillsError("PERMISSION_DENIED", message, { facts: { path: file } });
}

type Provenances = ReadonlyMap<string, { readonly digest: string; readonly commit?: string }>;

/** Returns the root of a source. Reads nothing until the provenance of a skill is requested. */
export function sourceRoot(dataDirectory: string, source: Source): RemoteRoot {
  return rootAt(storePaths(dataDirectory), source, source.label);
}

/**
 * Finds the root of a source by its label, if the source was read before and has a copy of these bytes. The label alone may name no
 * source, because it lacks the token of a share.
 */
export function rootWithCopy(
  dataDirectory: string,
  { label, digest }: { readonly label: string; readonly digest: string },
): RemoteRoot | undefined {
  const paths = storePaths(dataDirectory);
  const key = namesIn(paths.sources).find((name) => {
    const state = readState(sourcePaths(paths, name).state);
    return state?.label === label && state.skills.some((copy) => copy.digest === digest);
  });
  return key === undefined ? undefined : rootAt(paths, key, label);
}

function rootAt(paths: StorePaths, source: Source | string, label: string): RemoteRoot {
  const { skills, state } = sourcePaths(paths, source);
  let known: { readonly stamp: string; readonly provenances: Provenances } | undefined;

  function provenances(): Provenances {
    const stamp = fileStamp(state);
    if (stamp === undefined) return new Map();
    if (known?.stamp === stamp) return known.provenances;
    // The directory is missing if nothing was ever stored.
    const store = attempt(() => realpathSync.native(paths.store), paths.store);
    const copies = readState(state)?.skills ?? [];
    const found = new Map(
      copies.map(({ digest, slug, commit }) => [
        copyPath({ store }, { digest, slug }),
        { digest, ...(commit !== undefined && { commit }) },
      ]),
    );
    known = { stamp, provenances: found };
    return found;
  }

  // A label whose secret was cut off names no source.
  const url = sourceKindOf(label) && attempt(() => parseSource(label).url, undefined);
  return { path: skills, remote: { label, url, provenanceOf: (directory) => provenances().get(directory) } };
}
