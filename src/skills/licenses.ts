import { hash } from "node:crypto";
import path from "node:path";
import { LimitedMap } from "../base/limited-map.ts";
import type { Steps } from "../base/promises/slices.ts";
import { isSkillsError } from "../base/errors.ts";
import type { SkillSource } from "./files.ts";
import { locateSkillFile, orNothing, skillPathFault } from "./hash.ts";
import type { Skill } from "./skill.ts";
import { byCodePoint } from "../base/text/code-point-order.ts";
import { combineLicenses, contradicts } from "./licenses/combine-licenses.ts";
import { type IdentifiedText, identifyText } from "./licenses/identify-text.ts";
import { readLicense } from "./licenses/read-license.ts";

export { readLicense } from "./licenses/read-license.ts";

/** The license of a skill, and how we know. */
export interface SkillLicense {
  /**
   * `declared`: the skill states it. `detected`: only its files say it. `conflict`: its files say something else than it states.
   * `inherited`: it has nothing of its own, but its repository has a license file. `unknown`: something is stated, or a file is there, that
   * we do not recognize. `unspecified`: there is nothing.
   */
  readonly status: "declared" | "detected" | "conflict" | "inherited" | "unknown" | "unspecified";
  /** SPDX expression; what is stated in a conflict. Absent if it is unknown or unspecified. */
  readonly license?: string;
  /** What the files of a skill say that states something else. */
  readonly contradiction?: string;
  /** The `license` field as written. */
  readonly declared?: string;
  readonly files: readonly LicenseFile[];
}

/** The license of a skill by its own files. */
export type OwnLicense = SkillLicense & { readonly status: Exclude<SkillLicense["status"], "inherited"> };

/** A license file of a skill. Without licenses it is not recognized. */
export interface LicenseFile extends IdentifiedText {
  readonly path: string;
  /** Why it could not be read, as the end of a sentence. */
  readonly fault?: string;
}

const licenseFileName =
  /^(?:licen[cs]e|copying|unlicense)(?:[-_][\w-]{1,32})?(?:\.(?:txt|md|rst|mit|apache|bsd|gpl|lgpl|lesser))?$/i;
const maxFiles = 8;
const maxFileBytes = 128 * 1024;
/** Skills of one author have the same files. */
const identified = new LimitedMap<string, IdentifiedText>(256);

/**
 * The license that a skill states in its frontmatter, and those in the files beside its SKILL.md and in files that it refers to. Reads inside the skill's directory only; never throws for what is
 * wrong there.
 */
export function* findLicense(source: SkillSource, skill: Skill): Steps<OwnLicense> {
  const stated = readLicense(skill.license);
  const files: LicenseFile[] = [];
  for (const file of licensePaths(source, skill, stated.references)) {
    files.push(readLicenseFile(source, skill, file));
    yield;
  }
  const { expression } = stated;
  const found = combineLicenses(files.flatMap(({ licenses }) => licenses));
  const facts = { ...(skill.license !== undefined && { declared: skill.license }), files };
  if (expression !== undefined && found !== undefined && contradicts(expression, found))
    return { status: "conflict", license: expression, contradiction: found, ...facts };
  if (expression !== undefined) return { status: "declared", license: expression, ...facts };
  if (found !== undefined) return { status: "detected", license: found, ...facts };
  return { status: stated.saysNothing && files.length === 0 ? "unspecified" : "unknown", ...facts };
}

/** The same; for a skill that has nothing of its own, what the license files in the root of its repository say. */
export function* findLicenseAround(
  source: SkillSource,
  skill: Skill,
  repository: string | undefined,
): Steps<SkillLicense> {
  const own = yield* findLicense(source, skill);
  if (own.status !== "unspecified" || repository === undefined) return own;
  const root = { directory: repository };
  const files = licensePaths(source, root, []).map((name) => {
    const shown = path.relative(skill.directory, path.join(repository, name)).replaceAll(path.sep, "/");
    return { ...readLicenseFile(source, root, name), path: shown };
  });
  if (files.length === 0) return own;
  const license = combineLicenses(files.flatMap(({ licenses }) => licenses));
  return { ...own, status: "inherited", ...(license !== undefined && { license }), files };
}

/** The license of a skill for a policy, which an inherited one does not satisfy, read at once: an SPDX expression (in a conflict both, joined by AND), `unknown` or `unspecified`. */
export function licenseForPolicy(source: SkillSource, skill: Skill): string {
  const steps = findLicense(source, skill);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return toPolicyWord(step.value);
  }
}

export function toPolicyWord({ status, license, contradiction }: SkillLicense): string {
  if (status === "inherited") return "unspecified";
  if (license === undefined) return status === "unspecified" ? "unspecified" : "unknown";
  return contradiction === undefined ? license : `(${license}) AND (${contradiction})`;
}

/** The license files of the skill's own directory, and the files that its `license` field names. */
function licensePaths(
  { files }: SkillSource,
  { directory }: Pick<Skill, "directory">,
  references: readonly string[],
): readonly string[] {
  const named = references.map((reference) => reference.replace(/^(?:\.\/)+/, ""));
  const beside = orNothing(() => files.list(directory)) ?? [];
  const names = beside
    .filter(({ name, kind }) => kind === "file" && licenseFileName.test(name))
    .map(({ name }) => name);
  return [...new Set([...named, ...names.sort(byCodePoint)])].slice(0, maxFiles);
}

function readLicenseFile(source: SkillSource, skill: Pick<Skill, "directory">, file: string): LicenseFile {
  const fault = skillPathFault(file);
  if (fault !== undefined) return { path: file, licenses: [], fault: `is not read: its path ${fault}` };
  try {
    const real = locateSkillFile(source, skill, file);
    const part = real === undefined ? undefined : source.bytes.head(real, maxFileBytes);
    if (part === undefined) return { path: file, licenses: [], fault: "does not exist" };
    if (part.size > part.bytes.length) {
      return { path: file, licenses: [], fault: `is ${part.size} bytes long; the limit is ${maxFileBytes} bytes` };
    }
    return { path: file, ...identifyOnce(part.bytes) };
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    const leaves = error.code === "INVALID_PATH";
    return { path: file, licenses: [], fault: leaves ? "leads outside the skill's directory" : "cannot be read" };
  }
}

function identifyOnce(bytes: Uint8Array): IdentifiedText {
  const key = hash("sha256", bytes, "hex");
  const known = identified.get(key);
  if (known !== undefined) return known;
  const found = identifyText(new TextDecoder().decode(bytes));
  identified.set(key, found);
  return found;
}
