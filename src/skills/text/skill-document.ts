import matter from "gray-matter";
import { findFrontmatter, isYaml } from "./frontmatter.ts";
import { withoutTags } from "./invisible-characters.ts";
import { readYaml } from "../yaml/yaml.ts";

/** A whole SKILL.md: what its frontmatter says, and the instructions below it. */
export interface SkillDocument {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Everything after the closing fence's line, without Unicode tags; the whole text where there is no frontmatter. */
  readonly body: string;
}

const refuse = (): never => {
  throw new Error("frontmatter is YAML and never run");
};

/** Every engine that gray-matter brings or could be asked for, so that none of its own is left. */
const engines = {
  // gray-matter hands over the end of the opening fence's line and keeps back the last line break.
  yaml: (text: string): object => readYaml(`${text.slice(1)}\n`).values,
  json: refuse,
  javascript: refuse,
  js: refuse,
  coffee: refuse,
  toml: refuse,
};

/**
 * gray-matter looks for comments with `^\s*#`, which goes through a run of blanks and line ends again from each line in it. No
 * longer runs are given to it, so that its work stays in proportion to the text.
 */
const longRun = /\s{64}/;

/**
 * Reads a whole SKILL.md, for prompts and for people, in time proportional to its length. Frontmatter in any language but YAML
 * is no frontmatter.
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
  // The closing fence has its line end, for gray-matter takes any line that starts with it; and it drops one line break after it.
  const file = matter(`---\n${source}---\n\n${body}`, { engines, delimiters: ["---", "---\n"] });
  // To gray-matter any blank before a # opens a comment; to YAML a no-break space does not.
  const frontmatter = "isEmpty" in file ? readYaml(source).values : file.data;
  return { frontmatter, body: file.content };
}
