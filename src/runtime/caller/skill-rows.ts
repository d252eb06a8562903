import { withoutControls, replaceInvisible } from "../../base/text/unsafe-characters.ts";

/** One skill as listed for a model. */
export interface RowOfSkill {
  /** The name and location of the skill, in characters that need no escaping. */
  readonly label: string;
  /** Untrusted text; empty if absent. */
  readonly description: string;
}

/** Descriptions are truncated to the largest of these lengths with which all rows fit; if none fits, only names are listed. */
const descriptionLengths = [160, 120, 80, 60, 40, 0];

/**
 * Lists skills for a model: one line each, in at most `limit` bytes, and the number of skills that did not fit. A description is quoted as
 * data on one line, without control characters, and cannot close the tags around the list.
 */
export function toSkillRows(
  skills: readonly RowOfSkill[],
  limit: number,
): { readonly rows: readonly string[]; readonly leftOut: number } {
  let rows: string[] = [];
  for (const length of descriptionLengths) {
    rows = [];
    let bytes = 0;
    for (const { label, description } of skills) {
      const row = description === "" || length === 0 ? `- ${label}` : `- ${label}: ${toQuote(description, length)}`;
      bytes += Buffer.byteLength(row) + 1;
      if (bytes > limit) break;
      rows.push(row);
    }
    if (rows.length === skills.length) break;
  }
  return { rows, leftOut: skills.length - rows.length };
}

function toQuote(description: string, length: number): string {
  const shown = replaceInvisible(withoutControls(description.replace(/\s+/g, " ")), () => "").trim();
  return JSON.stringify(cut(shown, length)).replace(/<(?=\s*\/?\s*(?:acp-)?skills)/gi, "\\u003c");
}

function cut(text: string, length: number): string {
  const characters = Array.from(text.slice(0, 2 * length + 1));
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
