import { toSlug } from "../names.ts";
import { readSkillDocument } from "./skill-document.ts";

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
