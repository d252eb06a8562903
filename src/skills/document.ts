import matter from "gray-matter";
import { findFrontmatter, isYaml } from "./manifest/frontmatter.ts";
import { withoutTags } from "../base/text/unsafe-characters.ts";
import { readYaml } from "./manifest/yaml.ts";
import { toSlug } from "./skill.ts";

/** A complete SKILL.md: the frontmatter values and the instructions. */
export interface SkillDocument {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Everything after the line of the closing fence, without Unicode tags; the whole text if there is no frontmatter. */
  readonly body: string;
}

const refuse = (): never => {
  throw new Error("frontmatter is YAML and never run");
};

/** Overrides every engine of gray-matter, so that none of its own engines can run. */
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
 * gray-matter searches for comments with `^\s*#`, which takes quadratic time for a run of whitespace with many line breaks. Text with
 * longer runs is not passed to it, so that its time stays linear.
 */
const longRun = /\s{64}/;

/**
 * Reads a complete SKILL.md, for prompts and for display, in time proportional to its length. Frontmatter in any language but YAML is part
 * of the body.
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
  // The closing fence includes its line break, because gray-matter accepts any line that starts with the fence. It drops one line break
  // after the fence.
  const file = matter(`---\n${source}---\n\n${body}`, { engines, delimiters: ["---", "---\n"] });
  // gray-matter treats every # after whitespace as a comment; YAML does not after a no-break space.
  return { frontmatter: "isEmpty" in file ? readYaml(source).values : file.data, body: file.content };
}

/** Returns name, description and version from the frontmatter of a SKILL.md; the name as agents are offered it. */
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
