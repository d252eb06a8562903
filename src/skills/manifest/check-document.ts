import { isUtf8 } from "node:buffer";
import { findDynamicCommands } from "./dynamic-commands.ts";
import { quoted } from "../../base/text/quoted.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { endOfText } from "../../base/text/content.ts";
import { createTextPositions } from "../../base/text/text-positions.ts";
import { findInvisible, invisibleIn } from "../../base/text/unsafe-characters.ts";
import type { SkillFiles } from "../files.ts";
import { findFrontmatter, specificationFields } from "./frontmatter.ts";
import { countCodePoints, tooLong } from "../../base/text/code-points.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import { nearest } from "../../base/text/nearest.ts";
import { listed } from "../permissions.ts";
import type { Finding, Level, RuleCode } from "../rules.ts";
import { isSlug, maxNormalisedLength, maxNameLength, toSlug } from "../skill.ts";

/** A rule violation in frontmatter, before the position of its key is known. */
export interface ValueFault {
  readonly code: RuleCode;
  readonly key: string;
  readonly child?: string;
  /** The faulty range. Default: the value, if it is on the line of the key. */
  readonly part?: "key" | "value";
  /** The faulty text in the value. */
  readonly sought?: string;
  readonly message: string;
  readonly fix: string;
  readonly allowedAt?: readonly Level[];
}

export const maxDescriptionLength = 1024;
export const maxCompatibilityLength = 500;

/** Checks the name in frontmatter against the specification and AvailableSkill; the name must equal `directory`. */
export function checkName(name: string, directory: string, report: (fault: ValueFault) => void): void {
  if (isSlug(name) && name === directory) return;
  const isLong = name.length > maxNormalisedLength;
  const normal = name.slice(0, maxNormalisedLength).normalize("NFKC");
  const slug = toSlug(name);
  const length = countCodePoints(isLong ? name : normal);
  if (length > maxNameLength) {
    const message = tooLong("name", length, maxNameLength);
    report({ code: "name-too-long", key: "name", message, fix: "Shorten the name." });
  }
  const spelling = spellingFault(normal);
  if (spelling !== undefined && !(spelling.code === "name-not-ascii" && slug === undefined)) {
    const fix = slug === undefined || slug === name ? spelling.fix : `Rename it to \`${slug}\`.`;
    report({ ...spelling, key: "name", message: `name \`${normal}\` ${spelling.message}`, fix });
  }
  if (normal === directory.normalize("NFKC") || (spelling !== undefined && slug === directory)) return;
  const message = `name \`${normal}\` does not match its directory \`${directory}\``;
  report({ code: "name-directory-mismatch", key: "name", message, fix: renaming(name, directory) });
}

/** The first fault in the characters of a name. Only one is reported, because one rename fixes them all. */
function spellingFault(name: string): Pick<ValueFault, "code" | "message" | "fix"> | undefined {
  const fault = (code: RuleCode, message: string, fix = "Use lowercase letters a-z, digits and single hyphens.") => {
    return { code, message, fix };
  };
  if (name !== name.toLowerCase())
    return fault("name-not-lowercase", "contains uppercase letters", `Rename it to \`${name.toLowerCase()}\`.`);
  if (!/^[\p{L}\p{N}-]*$/u.test(name))
    return fault("name-invalid-characters", "contains characters other than letters, digits and hyphens");
  if (/^-|-$|--/.test(name)) return fault("name-hyphens", "has leading, trailing or doubled hyphens");
  if (!/^[a-z0-9-]*$/i.test(name))
    return fault("name-not-ascii", "contains letters other than a-z, which editors reject");
  return undefined;
}

/** The fix for a name that differs from its directory. Suggests valid names, if there are any. */
function renaming(name: string, directory: string): string {
  const [forDirectory = name, forName = directory] = [toSlug(name), toSlug(directory)];
  return forDirectory === forName
    ? `Rename both to \`${forName}\`.`
    : `Rename the directory to \`${forDirectory}\`, or the name to \`${forName}\`.`;
}

/** The fields that agents document beside the specification. */
const agentFields: ReadonlySet<string> = new Set([
  // Claude Code; others read some of them.
  ...["agent", "argument-hint", "arguments", "context", "disable-model-invocation", "disallowed-tools", "effort"],
  ...["hooks", "model", "paths", "shell", "user-invocable", "when_to_use"],
  // OpenClaw and Hermes.
  ...["author", "command-arg-mode", "command-dispatch", "command-tool", "homepage", "platforms", "prerequisites"],
  ...["required_environment_variables", "version"],
]);

/** The mappings in `metadata` that agents document for data of their own. */
export const agentTables: ReadonlySet<string> = new Set(["clawdbot", "clawdis", "hermes", "openclaw"]);

const specification = new Set(specificationFields);

/** Reports the top-level keys that are not fields of the specification: one fault for those that agents document, one for all others. */
export function checkFields(values: Readonly<Record<string, unknown>>, report: (fault: ValueFault) => void): void {
  const keys = Object.keys(values);
  if (keys.every((key) => specification.has(key))) return;
  for (const fault of unexpectedFields(keys)) report(fault);
}

/** The faults by list of keys: the same few lists occur in thousands of skills. */
const remembered = new LimitedMap<string, readonly ValueFault[]>(1000);

function unexpectedFields(keys: readonly string[]): readonly ValueFault[] {
  const id = JSON.stringify(keys);
  const known = remembered.get(id);
  if (known !== undefined) return known;
  const others = keys.filter((key) => !specification.has(key));
  const documented = others.filter((key) => agentFields.has(key));
  const unknown = others.filter((key) => !agentFields.has(key));
  const faults: ValueFault[] = [];
  if (documented.length > 0)
    faults.push({
      ...unexpected(documented, "fields of some agents, not of the specification"),
      fix: "Check with --level agents, or move them under `metadata:`.",
      allowedAt: ["agents", "lenient"],
    });
  const meant = unknown.slice(0, maxNamed).flatMap((key) => {
    const close = key.length > maxNameLength ? undefined : nearest(key, specificationFields)[0];
    return close === undefined || keys.includes(close) ? [] : [`\`${close}\` for \`${key}\``];
  });
  const guess = meant.length === 0 ? "" : `Did you mean ${meant.join(", ")}? Otherwise `;
  const fix = `${guess}${guess === "" ? "M" : "m"}ove them under \`metadata:\`, or remove them.`;
  if (unknown.length > 0) faults.push({ ...unexpected(unknown, "fields that no agent is known to document"), fix });
  if (id.length <= maxRememberedLength) remembered.set(id, faults);
  return faults;
}

const maxRememberedLength = 512;
const maxNamed = 20;

function unexpected(keys: readonly string[], what: string): Omit<ValueFault, "fix"> {
  const names = listed(
    keys.map((key) => `\`${key}\``),
    maxNamed,
  );
  return { code: "field-unexpected", key: keys[0] ?? "", part: "key", message: `${what}: ${names}` };
}

/** Whether the body of a skill is checked, too. */
export function readsBody({ findings }: { readonly findings: readonly Finding[] }, level: Level): boolean {
  return (level === "spec" || level === "agents") && !findings.some(({ code }) => code === "invalid-utf8");
}

const checkedBytes = 16 * 1024 * 1024;

/**
 * Finds the first invalid UTF-8 of a file, in frontmatter or body, because readers decode whole files. Finds the first invisible character
 * and all dynamic commands of the body. Reads at most the first 16 MiB. Returns nothing for an unreadable file, which the scan reports.
 */
export function findBodyFaults(file: string, files: SkillFiles): readonly Finding[] {
  const read = attempt(() => files.head(file, checkedBytes), undefined);
  if (read === undefined) return [];
  const start = Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.length);
  const bytes = read.whole ? start : start.subarray(0, endOfText(start));
  const findings: Finding[] = [];
  const text = bytes.toString("utf8");
  if (!isUtf8(bytes)) {
    const at = createTextPositions(text)(Math.max(text.indexOf("\ufffd"), 0));
    findings.push({ code: "invalid-utf8", file, ...at, message: "invalid UTF-8", fix: "Save the file as UTF-8." });
  }
  const frontmatter = findFrontmatter(bytes, true);
  const head = frontmatter.kind === "found" ? bytes.toString("utf8", 0, frontmatter.bodyStart) : "";
  const found = findInvisible(text.slice(head.length));
  if (found !== undefined) {
    const [message, fix] = invisibleIn("the body", found);
    const at = createTextPositions(text)(head.length + found.offset);
    findings.push({ code: "invisible-characters", file, ...at, message, fix });
  }
  const positions = createTextPositions(text);
  for (const { command, offset } of findDynamicCommands(text.slice(head.length))) {
    const message = `agents that load the skill themselves run ${quoted(command)} on the user's machine before the model reads it`;
    const fix = "Let the model run it instead, so that the user can decide; a blank after the ! makes it plain text.";
    findings.push({ code: "dynamic-command", file, ...positions(head.length + offset), message, fix });
  }
  return findings;
}
