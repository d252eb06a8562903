import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { SkillsError, isSkillsError, undefinedIfOurs } from "../base/errors.ts";
import { attempt } from "../base/failures/system-error.ts";
import {
  type Lock,
  type LockDifference,
  type LockEntry,
  directoryName,
  isVerifiable,
  lockDifferenceOf,
} from "./lock.ts";
import { readLock } from "./lock-file.ts";
import { findSkillsDirectory, projectScope } from "./install-scope.ts";
import { type InstalledFiles, readInstalled } from "./lock/read-installed.ts";
import { diskSkillBytes, diskSkillFiles } from "../skills/files.ts";
import { signatureFile } from "../skills/skill.ts";
import type { Signature, Signatures } from "../skills/signature.ts";
import { createSkillHasher, invalidName } from "../skills/hash.ts";
import { shortList } from "../base/text/code-points.ts";
import { nearest } from "../base/text/nearest.ts";

/** The state of a locked skill on disk. */
export type InstalledState =
  | { readonly state: "missing" }
  | { readonly state: "unchanged" | "unverifiable"; readonly installed: InstalledFiles }
  | { readonly state: "changed"; readonly installed: InstalledFiles; readonly difference: LockDifference };

/** Compares an installed skill with its lock entry. `skills`: the real path of the skills directory; undefined if it is missing. */
export async function stateOf(skills: string | undefined, key: string, entry: LockEntry): Promise<InstalledState> {
  const name = directoryName(key);
  const installed = skills === undefined ? undefined : readInstalled(skills, name);
  if (skills === undefined || installed === undefined) return { state: "missing" };
  const digest = entry.digest === undefined ? undefined : await digestOf(path.join(skills, name), installed);
  const difference = lockDifferenceOf(entry, installed, digest);
  if (difference !== undefined) return { state: "changed", installed, difference };
  return { state: isVerifiable(entry) ? "unchanged" : "unverifiable", installed };
}

/** Verifies the signature of an installed skill. Loads nothing if it has no signature. */
export async function signatureOf(
  skills: string | undefined,
  key: string,
  state: InstalledState,
  signatures: Pick<Signatures, "ofFiles">,
): Promise<Signature> {
  const { files = [], others = [] } = state.state === "missing" ? {} : state.installed;
  const isSigned = skills !== undefined && files.some((file) => file.path === signatureFile);
  const digest = isSigned
    ? await digestOf(path.join(skills, directoryName(key)), { files, others }).catch(undefinedIfOurs)
    : undefined;
  return await signatures.ofFiles(files, digest);
}

/** Computes the digest of a skill as `describe_skill` reports it; undefined if it has none. */
async function digestOf(directory: string, { others }: InstalledFiles): Promise<string | undefined> {
  if (others.includes(".")) return undefined;
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  try {
    return (await createSkillHasher().hash(source, directory, new AbortController().signal)).digest;
  } catch (error) {
    if (isSkillsError(error) && error.facts["reason"] === invalidName) return undefined;
    throw error;
  }
}

/** Lists the skills that the lock of a project names and that are not installed. Never throws: `verify` reports the faults of a lock. */
export function missingSkills(directory: string, home: string, env: NodeJS.ProcessEnv): readonly string[] {
  return attempt(() => {
    const scope = projectScope(directory, home, env);
    const skills = findSkillsDirectory(scope);
    const isThere = (key: string): boolean => skills !== undefined && existsSync(path.join(skills, directoryName(key)));
    return [...readLock(scope).entries.keys()].filter((key) => !isThere(key));
  }, []);
}

/** Lists the names in the skills directory that no lock entry covers; hidden names are no skills. */
export function unlockedNames(skills: string | undefined, entries: ReadonlyMap<string, LockEntry>): readonly string[] {
  if (skills === undefined) return [];
  const locked = new Set([...entries.keys()].map(directoryName));
  return readdirSync(skills, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .filter((name) => !locked.has(name))
    .sort();
}

/** Describes the files of the user that would be lost, and names the option that accepts the loss; undefined if nothing would be lost. */
export function lossWords(state: InstalledState, does: "replaces" | "restores" | "removes"): string | undefined {
  if (state.state === "missing" || state.state === "unchanged") return undefined;
  const option = `--discard-changes ${does} it`;
  if (state.state === "changed")
    return `it has local changes (${differenceWords(state.difference, 5).join("; ")}); ${option}`;
  const paths = [...state.installed.files.map((file) => file.path), ...state.installed.others].sort();
  return `the lock has no hash of its files, which may be yours (${shortList(paths, 5)}); ${option}`;
}

/** Lists the differences of a skill in words, one a line, with at most `maxFiles` files. */
export function differenceWords({ missing, changed, added, hashes }: LockDifference, maxFiles = 20): readonly string[] {
  const files = Object.entries({ missing, changed, added }).flatMap(([how, paths]) =>
    paths.map((file) => `${how}: ${file}`),
  );
  return [
    ...files.slice(0, maxFiles),
    ...(files.length > maxFiles ? [`and ${files.length - maxFiles} more files`] : []),
    ...(hashes.length === 0 ? [] : [`does not fit the lock: ${hashes.join(", ")}`]),
  ];
}

/** Finds the key of a skill that the user names, by key or by directory. */
export function lockedKey({ entries }: Lock, name: string): string | undefined {
  return entries.has(name) ? name : [...entries.keys()].find((key) => directoryName(key) === name);
}

/** Finds the key of a skill that the user names, by key or by directory. Throws SKILL_NOT_FOUND. */
export function keyInLock(lock: Lock, name: string): string {
  const key = lockedKey(lock, name);
  if (key === undefined) throw new SkillsError("SKILL_NOT_FOUND", notInLock(lock, name));
  return key;
}

/** Returns the message for a name that the lock does not have. */
export function notInLock({ entries }: Lock, name: string): string {
  const [close] = nearest(name, [...entries.keys()]);
  const advice = close === undefined ? "acp-skills verify names the skills that are" : `did you mean ${close}?`;
  return `${name} is not in the lock; ${advice}`;
}
