import * as z from "zod";
import type { Skill } from "../skills/skill.ts";
import { byCodePoint } from "../skills/text/code-point-order.ts";
import { fromCursor, toCursor } from "./answers/cursor.ts";
import type { CursorPlace } from "./answers/cursor.ts";
import { defaultPageSize, maxPageSize, maxQueryLength, maxRowTags } from "./input/limits.ts";
import { defineTool, readOnly } from "./tool.ts";
import { rankSkill, toQueryWords } from "./view/rank-skill.ts";
import { wholeNumber } from "./input/parameters.ts";

const nameRow = z.strictObject({ name: z.string(), version: z.string() });
const summaryRow = nameRow.extend({
  description: z.string(),
  namespace: z.string(),
  kind: z.enum(["action", "instruction"]),
  tags: z.array(z.string()).max(maxRowTags),
});
type Row = z.infer<typeof nameRow> | z.infer<typeof summaryRow>;

export const listSkills = defineTool({
  name: "list_skills",
  description:
    "Enumerate available skills, optionally filtering by namespace. Results are deterministically sorted. " +
    "With query, only skills that match its words, best first.",
  input: z.strictObject({
    namespace: z.string().optional().describe("Optional namespace to filter skills (e.g., 'salesforce')"),
    detail: z.enum(["names", "summary"]).default("names").describe("Level of detail to return"),
    limit: wholeNumber({ least: 1 }).default(defaultPageSize).describe("Maximum number of results"),
    cursor: z.string().optional().describe("Pagination cursor from previous response"),
    query: z
      .string()
      .max(maxQueryLength, `at most ${maxQueryLength} characters`)
      .optional()
      .describe("Words to find in names, descriptions and tags; best matches first"),
  }),
  output: z.strictObject({
    skills: z.array(z.union([summaryRow, nameRow])).max(maxPageSize),
    next_cursor: z.string().nullable(),
  }),
  annotations: readOnly,
  run({ skills }, { namespace: given, detail, limit, cursor, query }) {
    // Some models send every parameter; an empty one is treated as absent.
    const namespace = given === "" ? undefined : given;
    const words = query === undefined || query.trim() === "" ? undefined : toQueryWords(query);
    const list = { namespace, query: words?.join(" ") };
    const after = cursor === undefined ? undefined : fromCursor(cursor, list);
    const size = Math.min(limit, maxPageSize);
    const rows =
      words === undefined
        ? unranked(skills.after(after?.name, namespace))
        : ranked(skills.after(undefined, namespace), words, after);
    const page: Row[] = [];
    let last: CursorPlace | undefined;
    for (const { skill, rank } of rows) {
      if (last !== undefined && page.length === size) {
        return { output: { skills: page, next_cursor: toCursor(list, last) } };
      }
      page.push(detail === "names" ? { name: skill.name, version: skill.version } : summaryOf(skill));
      last = { name: skill.name, rank };
    }
    return { output: { skills: page, next_cursor: null } };
  },
});

interface Ranked {
  readonly skill: Skill;
  readonly rank: number;
}

function* unranked(skills: Iterable<Skill>): Generator<Ranked, void> {
  for (const skill of skills) yield { skill, rank: 0 };
}

/** The matching skills, best first, then by name; with a cursor position, only those after it. */
function ranked(skills: Iterable<Skill>, words: readonly string[], after: CursorPlace | undefined): Ranked[] {
  const found: Ranked[] = [];
  for (const skill of skills) {
    const rank = rankSkill(skill, words);
    if (rank === 0) continue;
    const { rank: last = 0, name = "" } = after ?? {};
    const isBehind = after === undefined || rank < last || (rank === last && byCodePoint(skill.name, name) > 0);
    if (isBehind) found.push({ skill, rank });
  }
  return found.sort((a, b) => b.rank - a.rank || byCodePoint(a.skill.name, b.skill.name));
}

function summaryOf({ name, version, description, namespace, kind, tags }: Skill): Row {
  return { name, version, description, namespace, kind, tags: tags.slice(0, maxRowTags) };
}
