import matter from "gray-matter";
import { findFrontmatter, isYaml } from "./manifest/frontmatter.ts";
import { withoutTags } from "../base/text/unsafe-characters.ts";
import { readYaml } from "./manifest/yaml.ts";
import { findDynamicCommands } from "./manifest/dynamic-commands.ts";
import { toSlug } from "./skill.ts";
import type { SkillFiles } from "./files.ts";
import { attempt } from "../base/failures/system-error.ts";
import { isObject } from "../base/json/json-value.ts";

/** A complete SKILL.md: the frontmatter values and the instructions. */
export interface SkillDocument {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Everything after the line of the closing fence, without Unicode tags; the whole text if there is no frontmatter. */
  readonly body: string;
}

const refuse = (): never => {
  throw new Error("frontmatter is YAML and never run");
};

/** Overrides every engine of gray-matter, so that none of its own can run. */
const engines = {
  // gray-matter passes the line break of the opening fence and omits the last line break.
  yaml: (text: string): object => readYaml(`${text.slice(1)}\n`).values,
  json: refuse,
  javascript: refuse,
  js: refuse,
  coffee: refuse,
  toml: refuse,
};

/**
 * gray-matter searches for comments with `^\s*#`, which takes quadratic time for a run of whitespace with many line breaks. Longer
 * runs are not passed to it, so that its time stays linear.
 */
const longRun = /\s{64}/;

/**
 * Reads a complete SKILL.md, for prompts and for people, in time proportional to its length. Frontmatter in any language but YAML
 * is part of the body.
 */
export function readSkillDocument(text: string): SkillDocument {
  const bytes = Buffer.from(text);
  const found = findFrontmatter(bytes, true);
  if (found.kind !== "found" || !isYaml(found.language)) {
    return { frontmatter: {}, body: withoutTags(text.replace(/^\ufeff/, "")) };
  }
  const source = bytes.toString("utf8", found.start, found.end);
  const body = withoutTags(bytes.toString("utf8", found.bodyStart));
  if (longRun.test(source)) return { frontmatter: readYaml(source).values, body };
  // The closing fence includes its line break, because gray-matter accepts any line that starts with the fence. It drops one line
  // break after it.
  const file = matter(`---\n${source}---\n\n${body}`, { engines, delimiters: ["---", "---\n"] });
  // gray-matter treats a # after any whitespace as a comment, YAML does not after a no-break space.
  return { frontmatter: "isEmpty" in file ? readYaml(source).values : file.data, body: file.content };
}

/** What the frontmatter of a SKILL.md says; its name as agents are offered it. */
export function describeSkillText(text: string): {
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
} {
  const { name, description, metadata } = readSkillDocument(text).frontmatter;
  const version = typeof metadata === "object" && metadata !== null && "version" in metadata ? metadata.version : "";
  return {
    ...(typeof name === "string" && { name: toSlug(name) ?? name }),
    ...(typeof description === "string" && { description }),
    ...(typeof version === "string" && version !== "" && { version }),
  };
}

/** The most that are shown of a skill. */
const mostCommands = 20;
const longestText = 16 * 1024 * 1024;

/**
 * What agents that load a skill themselves run on this machine: the commands in its instructions, and those of the `hooks` in its
 * frontmatter. Nothing here runs them. Empty for a file that cannot be read.
 */
export function readHostCommands(file: string, files: Pick<SkillFiles, "head">): readonly string[] {
  const bytes = attempt(() => files.head(file, longestText).bytes, undefined);
  if (bytes === undefined) return [];
  const { frontmatter, body } = readSkillDocument(Buffer.from(bytes).toString("utf8"));
  const commands = [...findDynamicCommands(body).map(({ command }) => command), ...hookCommands(frontmatter["hooks"])];
  const shown = [...new Set(commands)];
  if (shown.length <= mostCommands) return shown;
  return [...shown.slice(0, mostCommands), `and ${shown.length - mostCommands} more`];
}

const deepestHook = 8;

/** The values of `command`, wherever they are in hooks. */
function* hookCommands(value: unknown, depth = 0): Iterable<string> {
  if (typeof value !== "object" || value === null || depth > deepestHook) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === "command" && typeof inner === "string" && isObject(value)) yield inner;
    else yield* hookCommands(inner, depth + 1);
  }
}
