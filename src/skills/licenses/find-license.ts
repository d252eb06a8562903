import { hash } from "node:crypto";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Steps } from "../../base/slices.ts";
import { isSkillsError } from "../../errors.ts";
import type { SkillSource } from "../files/skill-files.ts";
import { locateSkillFile, orNothing, skillPathFault } from "../hash/walk-skill.ts";
import type { Skill } from "../skill.ts";
import { byCodePoint } from "../../base/code-point-order.ts";
import { combineLicenses, contradicts } from "./combine-licenses.ts";
import { identifyText } from "./identify-text.ts";
import type { IdentifiedText } from "./identify-text.ts";
import { readLicense } from "./read-license.ts";

/** The license of a skill, and how we know. */
export interface SkillLicense {
  /**
   * `declared`: the skill states it. `detected`: only its files say it. `conflict`: its files say something else than it states.
   * `unknown`: something is stated, or a file is there, that we do not recognize. `unspecified`: there is nothing.
   */
  readonly status: "declared" | "detected" | "conflict" | "unknown" | "unspecified";
  /** SPDX expression; what is stated in a conflict. Absent if it is unknown or unspecified. */
  readonly license?: string;
  /** What the files of a skill say that states something else. */
  readonly contradiction?: string;
  /** The `license` field as written. */
  readonly declared?: string;
  readonly files: readonly LicenseFile[];
}

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
 * The license that a skill states in its frontmatter, and those in the files beside its SKILL.md and in files that it refers to. A
 * license of the repository around it is not taken for the skill's. Reads inside the skill's directory only; never throws for what is
 * wrong there.
 */
export function* findLicense(source: SkillSource, skill: Skill): Steps<SkillLicense> {
  const stated = readLicense(skill.license);
  const files: LicenseFile[] = [];
  for (const path of licensePaths(source, skill, stated.references)) {
    files.push(readLicenseFile(source, skill, path));
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

/** The license of a skill for a policy, read at once: an SPDX expression (in a conflict both, joined by AND), `unknown` or `unspecified`. */
export function licenseForPolicy(source: SkillSource, skill: Skill): string {
  const steps = findLicense(source, skill);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return toPolicyWord(step.value);
  }
}

export function toPolicyWord({ status, license, contradiction }: SkillLicense): string {
  if (license === undefined) return status === "unspecified" ? "unspecified" : "unknown";
  return contradiction === undefined ? license : `(${license}) AND (${contradiction})`;
}

/** The license files of the skill's own directory, and the files that its `license` field names. */
function licensePaths({ files }: SkillSource, { directory }: Skill, references: readonly string[]): readonly string[] {
  const named = references.map((reference) => reference.replace(/^(?:\.\/)+/, ""));
  const beside = orNothing(() => files.list(directory)) ?? [];
  const names = beside
    .filter(({ name, kind }) => kind === "file" && licenseFileName.test(name))
    .map(({ name }) => name);
  return [...new Set([...named, ...names.sort(byCodePoint)])].slice(0, maxFiles);
}

function readLicenseFile(source: SkillSource, skill: Skill, path: string): LicenseFile {
  const fault = skillPathFault(path);
  if (fault !== undefined) return { path, licenses: [], fault: `is not read: its path ${fault}` };
  try {
    const real = locateSkillFile(source, skill, path);
    const part = real === undefined ? undefined : source.bytes.head(real, maxFileBytes);
    if (part === undefined) return { path, licenses: [], fault: "does not exist" };
    if (part.size > part.bytes.length) {
      return { path, licenses: [], fault: `is ${part.size} bytes long; the limit is ${maxFileBytes} bytes` };
    }
    return { path, ...identifyOnce(part.bytes) };
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    const leaves = error.code === "INVALID_PATH";
    return { path, licenses: [], fault: leaves ? "leads outside the skill's directory" : "cannot be read" };
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
