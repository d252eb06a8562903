import { specificationFields } from "./frontmatter.ts";
import { countCodePoints, tooLong } from "../../base/text/code-points.ts";
import { nearest } from "../../base/text/nearest.ts";
import type { Level, RuleCode } from "../rules.ts";
import { isSlug, longestNormalised, maxNameLength, toSlug } from "../skill.ts";

/** A rule violation in frontmatter, before the position of its key is known. */
export interface ValueFault {
  readonly code: RuleCode;
  readonly key: string;
  readonly child?: string;
  /** The part at fault. Default: the value, if it is on the line of the key. */
  readonly part?: "key" | "value";
  /** The faulty text in the value. */
  readonly sought?: string;
  readonly message: string;
  readonly fix: string;
  readonly allowedAt?: readonly Level[];
}

export const maxDescriptionLength = 1024;
export const maxCompatibilityLength = 500;

/** Checks the name in frontmatter against the specification and AvailableSkill; `directory` is the name it must match. */
export function checkName(name: string, directory: string, report: (fault: ValueFault) => void): void {
  if (isSlug(name) && name === directory) return;
  const isLong = name.length > longestNormalised;
  const normal = name.slice(0, longestNormalised).normalize("NFKC");
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
  if (name !== name.toLowerCase()) {
    const fix = `Rename it to \`${name.toLowerCase()}\`.`;
    return { code: "name-not-lowercase", message: "contains uppercase letters", fix };
  }
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) {
    const message = "contains characters other than letters, digits and hyphens";
    return { code: "name-invalid-characters", message, fix: "Use lowercase letters, digits and single hyphens." };
  }
  if (/^-|-$|--/.test(name)) {
    const message = "has leading, trailing or doubled hyphens";
    return { code: "name-hyphens", message, fix: "Use single hyphens between words." };
  }
  if (!/^[a-z0-9-]*$/i.test(name)) {
    const message = "contains letters other than a-z, which editors reject";
    return { code: "name-not-ascii", message, fix: "Use the letters a-z, digits and hyphens." };
  }
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

/** The mappings in `metadata` in which agents document data of their own. */
export const agentTables: ReadonlySet<string> = new Set(["clawdbot", "clawdis", "hermes", "openclaw"]);

const specification = new Set(specificationFields);

/** Reports the top-level keys that are not fields of the specification: once those that agents document, and once all others. */
export function checkFields(values: Readonly<Record<string, unknown>>, report: (fault: ValueFault) => void): void {
  const keys = Object.keys(values);
  if (keys.every((key) => specification.has(key))) return;
  for (const fault of unexpectedFields(keys)) report(fault);
}

const remembered = new Map<string, readonly ValueFault[]>();
const mostRemembered = 1000;
const longestRemembered = 512;

/** The faults of keys. Cached, as the same few keys appear in thousands of skills. */
function unexpectedFields(keys: readonly string[]): readonly ValueFault[] {
  const id = JSON.stringify(keys);
  const known = remembered.get(id);
  if (known !== undefined) return known;
  const others = keys.filter((key) => !specification.has(key));
  const documented = others.filter((key) => agentFields.has(key));
  const unknown = others.filter((key) => !agentFields.has(key));
  const faults = [
    ...(documented.length === 0 ? [] : [documentedFault(documented)]),
    ...(unknown.length === 0 ? [] : [unknownFault(unknown, keys)]),
  ];
  if (remembered.size === mostRemembered) remembered.clear();
  if (id.length <= longestRemembered) remembered.set(id, faults);
  return faults;
}

function documentedFault(keys: readonly string[]): ValueFault {
  const message = `${listed(keys)} of some agents, not of the specification`;
  const fix = `Check with --level agents, or move ${pronoun(keys)} under \`metadata:\`.`;
  return { code: "field-unexpected", key: keys[0] ?? "", part: "key", message, fix, allowedAt: ["agents", "lenient"] };
}

function unknownFault(keys: readonly string[], present: readonly string[]): ValueFault {
  const message = `${listed(keys)} that no agent is known to document`;
  const meant = keys.slice(0, mostNamed).flatMap((key) => {
    const close = key.length > maxNameLength ? undefined : nearest(key, specificationFields)[0];
    if (close === undefined || present.includes(close)) return [];
    return [keys.length === 1 ? `\`${close}\`` : `\`${close}\` for \`${key}\``];
  });
  const them = pronoun(keys);
  const fix =
    meant.length === 0
      ? `Move ${them} under \`metadata:\`, or remove ${them}.`
      : `Did you mean ${meant.join(", ")}? Otherwise move ${them} under \`metadata:\`.`;
  return { code: "field-unexpected", key: keys[0] ?? "", part: "key", message, fix };
}

const mostNamed = 20;

/** "`a` is a field", "`a` and `b` are fields". */
function listed(keys: readonly string[]): string {
  const names = keys.slice(0, mostNamed).map((key) => `\`${key}\``);
  const last = keys.length > mostNamed ? `${keys.length - mostNamed} more` : names.pop();
  return names.length === 0 ? `${last} is a field` : `${names.join(", ")} and ${last} are fields`;
}

function pronoun({ length }: readonly string[]): string {
  return length === 1 ? "it" : "them";
}
