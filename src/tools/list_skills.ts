import * as z from "zod";
import type { Skill } from "../skills/skill.ts";
import { fromCursor, toCursor } from "./answers/cursor.ts";
import { defaultPageSize, maxPageSize, maxRowTags } from "./limits.ts";
import { readOnly } from "./read-only.ts";
import { defineTool } from "./tool.ts";
import { wholeNumber } from "./input/whole-number.ts";

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
  title: "List skills",
  description: "Enumerate available skills, optionally filtering by namespace. Results are deterministically sorted.",
  input: z.strictObject({
    namespace: z.string().optional().describe("Optional namespace to filter skills (e.g., 'salesforce')"),
    detail: z.enum(["names", "summary"]).default("names").describe("Level of detail to return"),
    limit: wholeNumber({ least: 1 }).default(defaultPageSize).describe("Maximum number of results"),
    cursor: z.string().optional().describe("Pagination cursor from previous response"),
  }),
  output: z.strictObject({
    skills: z.array(z.union([summaryRow, nameRow])).max(maxPageSize),
    next_cursor: z.string().nullable(),
  }),
  annotations: readOnly,
  run({ skills }, { namespace: given, detail, limit, cursor }) {
    // Some models fill every parameter in; no namespace has an empty name.
    const namespace = given === "" ? undefined : given;
    const after = cursor === undefined ? undefined : fromCursor(cursor, namespace);
    const size = Math.min(limit, maxPageSize);
    const page: Row[] = [];
    let last = "";
    for (const skill of skills.after(after, namespace)) {
      if (page.length === size) return { output: { skills: page, next_cursor: toCursor(namespace, last) } };
      page.push(detail === "names" ? { name: skill.name, version: skill.version } : summaryOf(skill));
      last = skill.name;
    }
    return { output: { skills: page, next_cursor: null } };
  },
});

function summaryOf({ name, version, description, namespace, kind, tags }: Skill): Row {
  return { name, version, description, namespace, kind, tags: tags.slice(0, maxRowTags) };
}
