import { realpathSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { upwards } from "../../../../base/paths/location.ts";
import { SkillsError } from "../../../../base/errors.ts";
import { attempt } from "../../../../base/failures/system-error.ts";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import {
  holdDirectory,
  listHeld,
  openAtRealPath,
  readInto,
  within,
  withDescriptor,
} from "../../../../base/paths/at-real-path.ts";
import { readGuardedFile } from "../../../../base/paths/read-guarded-file.ts";
import { readInstalled } from "../../../lock/read-installed.ts";
import type { RemoteSkill, SkillFile } from "../../../reader.ts";
import { type FileTree, archiveTree, listSkillsOf, nameOf } from "../../../reader/trees.ts";
import type { PinnedContent } from "../../source-kind.ts";
import { installedText, parsePackageText, toPin } from "./package-text.ts";
import { publishedSkills, skillDirectories } from "./unpack-package.ts";
import { badSource } from "../../source-label.ts";

const manifestBytes = 1024 * 1024;
const maxPackages = 2_000;
const dependencyFields = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;

/** The label of the source of a project's packages. */
export const installedLabel = `npm:${installedText}`;

/** A package in `node_modules`, with the name and version of its own package.json. */
interface InstalledPackage {
  readonly real: string;
  readonly name: string;
  readonly version: string;
}

/**
 * Lists the skills in the installed packages that the package.json of a project names. Only directories `node_modules` of the project and
 * of the directories above it are read, and no link inside a package is followed. Throws SOURCE_INVALID.
 */
export async function listInstalledPackages(
  project: string,
  signal: AbortSignal,
): Promise<{ readonly skills: readonly RemoteSkill[]; readonly problems: readonly string[] }> {
  const file = path.join(project, "package.json");
  const read = readGuardedFile(file, { maxBytes: manifestBytes, of: "project" });
  if ("fault" in read) throw new SkillsError("SOURCE_INVALID", `${file} cannot be used: ${read.fault}. ${read.fix}`);
  const manifest = parseIfJson(read.text);
  if (!isObject(manifest)) throw badSource(`${file} is not an object of JSON`);
  const named = dependencyFields.flatMap((field) => (isObject(manifest[field]) ? Object.keys(manifest[field]) : []));
  const names = [...new Set(named)].filter((name) => parsePackageText(name)?.range === "").sort();
  const problems: string[] = [];
  if (names.length > maxPackages) problems.push(`Only ${maxPackages} of its ${names.length} packages are read.`);
  const skills = new Map<string, RemoteSkill>();
  for (const name of names.slice(0, maxPackages)) {
    await nextTurn();
    signal.throwIfAborted();
    const found = findInstalled(project, name);
    if (found === "outside") problems.push(`${name} is a link out of ${installedText}; left out.`);
    if (found === undefined || found === "outside") continue;
    const listed = await listSkillsIn(found, name, signal);
    problems.push(...listed.problems.map((problem) => `${name}: ${problem}`));
    for (const skill of listed.skills) {
      if (!skills.has(skill.name)) skills.set(skill.name, { version: found.version, ...skill });
      else problems.push(`${name} has a skill ${skill.name}, as another package does; left out: add npm:${name}.`);
    }
  }
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

async function listSkillsIn(found: InstalledPackage, dependency: string, signal: AbortSignal) {
  const tree = manifestsOf(found.real);
  const pin = toPin({ ...found, integrity: undefined });
  const fallback = nameOf(found.name);
  const content = (directory: string): PinnedContent => ({
    type: "pinned",
    source: installedLabel,
    pin,
    place: `${dependency} ${directory}`,
  });
  const directories = publishedSkills(tree);
  return await listSkillsOf(
    tree,
    directories.map((directory) => ({ directory, fallback, content: content(directory) })),
    signal,
  );
}

/** Reads the files of a listed skill. Throws SOURCE_INVALID if its package has another version now. */
export function readInstalledSkill(project: string, { pin, place }: PinnedContent): readonly SkillFile[] {
  const [dependency = "", directory = ""] = place.split(/ (.*)/s);
  const found = parsePackageText(dependency)?.range === "" ? findInstalled(project, dependency) : undefined;
  if (found === undefined || found === "outside" || toPin({ ...found, integrity: undefined }) !== pin)
    throw badSource(`${dependency} is not installed any more as it was listed; look again`);
  const real = path.join(found.real, ...directory.split("/"));
  const installed = readInstalled(path.dirname(real), path.basename(real));
  // The dependencies of the package do not belong to its skill.
  return (installed?.files ?? []).filter((file) => !/^node_modules\//.test(file.path));
}

/** Finds a package as Node would; "outside" if it is not in a directory `node_modules`. */
function findInstalled(project: string, dependency: string): InstalledPackage | "outside" | undefined {
  const above = upwards(realpathSync.native(project)).map((at) => path.join(at, installedText));
  for (const directory of above) {
    const real = attempt(() => realpathSync.native(path.join(directory, ...dependency.split("/"))), undefined);
    if (real === undefined) continue;
    // Package managers link to their stores, such as node_modules/.pnpm.
    if (!above.some((at) => real.startsWith(at + path.sep))) return "outside";
    const text = attempt(() => readSmallFile(path.join(real, "package.json")), undefined);
    const own = text === undefined ? undefined : parseIfJson(text.toString("utf8"));
    if (!isObject(own)) continue;
    const { name, version } = own;
    if (typeof name !== "string" || typeof version !== "string") return undefined;
    return parsePackageText(`${name}@${version}`) === undefined ? undefined : { real, name, version };
  }
  return undefined;
}

/** Reads the SKILL.md files of a package in all directories that may be skills. */
function manifestsOf(real: string): FileTree {
  const directories = ["", ...skillDirectories.flatMap((at) => childrenOf(real, at))];
  const files = directories.flatMap((directory) => {
    const file = directory === "" ? "SKILL.md" : `${directory}/SKILL.md`;
    const bytes = attempt(() => readSmallFile(path.join(real, ...file.split("/"))), undefined);
    return bytes === undefined ? [] : [{ path: file, bytes, executable: false }];
  });
  return archiveTree({ files, links: [], unusable: [] });
}

function childrenOf(real: string, at: string): readonly string[] {
  const directory = path.join(real, ...at.split("/"));
  // Most packages have no such directory.
  const entries = attempt(() => within(holdDirectory(directory), (held) => listHeld(held, directory)), []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [`${at}/${entry.name}`] : []));
}

/** Reads at most one byte more than a manifest may have; such a file is too large. */
function readSmallFile(real: string): Buffer {
  return withDescriptor(openAtRealPath(real), (descriptor) => {
    const buffer = Buffer.alloc(manifestBytes + 1);
    // A copy, because thousands of buffers of the maximum size would not fit into memory.
    return Buffer.from(buffer.subarray(0, readInto(descriptor, buffer)));
  });
}
