import { cleanText } from "../indexes/clean-text.ts";
import { isAgentSkillsName } from "../indexes/collect-skills.ts";
import { indexLimits } from "../indexes/index-limits.ts";
import type { FoundListing } from "./read-listing.ts";

/** The one skill of a SKILL.md; undefined if the text is not one. */
export function readSkillMdListing(
  { text, url, etag }: { readonly text: string; readonly url: string; readonly etag?: string },
  address: string,
  describe: (text: string) => { readonly name?: string; readonly description?: string } = () => ({}),
): FoundListing | undefined {
  if (!/^\uFEFF?---[ \t]*\r?\n/.test(text)) return undefined;
  const { name: own = "", description = "" } = describe(text);
  const parts = new URL(address).pathname.split("/").filter((part) => part !== "");
  const name = [own, parts.at(-2) ?? ""].find(isAgentSkillsName);
  if (name === undefined) return undefined;
  const skill = {
    name,
    description: cleanText(description, indexLimits.descriptionLength),
    content: { type: "skill-md", url } as const,
  };
  const etags = etag === undefined ? {} : { [address]: etag };
  return { form: "agent-skills-0.2", skills: [skill], problems: [], isPartial: false, etags };
}
