import matter from "gray-matter";
import { findFrontmatter, isYaml } from "./frontmatter.ts";
import { readYaml } from "./yaml.ts";

/** A whole SKILL.md: what its frontmatter says, and the instructions below it. */
export interface SkillDocument {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Everything after the closing fence's line, byte for byte; the whole text where there is no frontmatter. */
  readonly body: string;
}

const refuse = (): never => {
  throw new Error("frontmatter is YAML and never run");
};

/** Every engine that gray-matter brings or could be asked for, so that none of its own is left. */
const engines = {
  // gray-matter hands over the end of the opening fence's line and keeps back the last line break.
  yaml: (text: string): object => readYaml(`${text.replace(/^[ \t]*\r?\n/, "")}\n`).values,
  json: refuse,
  javascript: refuse,
  js: refuse,
  coffee: refuse,
  toml: refuse,
};

/** Reads a whole SKILL.md, for prompts and for people. Frontmatter in any language but YAML is no frontmatter. */
export function readSkillDocument(text: string): SkillDocument {
  const bytes = Buffer.from(text);
  const found = findFrontmatter(bytes, true);
  if (found.kind !== "found" || !isYaml(found.language)) {
    return { frontmatter: {}, body: text.replace(/^\ufeff/, "") };
  }
  const fence = bytes.toString("utf8", found.end, found.bodyStart).replace(/\r?\n$/, "\n");
  const opening = bytes.toString("utf8", 0, found.start).replace(/\ufeff+$/, "");
  const source = bytes.toString("utf8", found.start, found.end);
  const body = bytes.toString("utf8", found.bodyStart);
  // The closing fence is given whole, for gray-matter takes any line that starts with it; and it drops one line break after it.
  const closing = fence.endsWith("\n") ? fence : `${fence}\n`;
  const file = matter(`${opening}${source}${closing}\n${body}`, { engines, delimiters: ["---", closing] });
  // To gray-matter any blank before a # opens a comment; to YAML a no-break space does not.
  const frontmatter = "isEmpty" in file ? readYaml(source).values : file.data;
  return { frontmatter, body: file.content };
}
