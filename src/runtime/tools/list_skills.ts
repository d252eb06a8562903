import { createHmac } from "node:crypto";
import * as z from "zod";
import { SkillsError } from "../../base/errors.ts";
import type { Skill } from "../../skills/skill.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import { defineTool } from "./tool.ts";
import { wholeNumber } from "./parameters.ts";
import { rankByWords, toQueryWords } from "../caller/rank-by-words.ts";
import { defaultPageSize, maxPageSize, maxQueryLength, maxRowTags } from "../../wire/tools.ts";

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
    limit: wholeNumber({ min: 1 }).default(defaultPageSize).describe("Maximum number of results"),
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
    let last: CursorPosition | undefined;
    for (const { skill, rank } of rows) {
      if (last !== undefined && page.length === size) {
        return { output: { skills: page, next_cursor: toCursor(list, last) } };
      }
      const { name, version, description, kind, tags } = skill;
      const summary = { description, namespace: skill.namespace, kind, tags: tags.slice(0, maxRowTags) };
      page.push({ name, version, ...(detail === "summary" && summary) });
      last = { name, rank };
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

/** Returns the matching skills, best first, then by name; with a cursor position, only those after it. */
function ranked(skills: Iterable<Skill>, words: readonly string[], after: CursorPosition | undefined): Ranked[] {
  const found: Ranked[] = [];
  for (const skill of skills) {
    const rank = rankByWords(skill, words);
    if (rank === 0) continue;
    const { rank: last = 0, name = "" } = after ?? {};
    const isBehind = after === undefined || rank < last || (rank === last && byCodePoint(skill.name, name) > 0);
    if (isBehind) found.push({ skill, rank });
  }
  return found.sort((a, b) => b.rank - a.rank || byCodePoint(a.skill.name, b.skill.name));
}

const macBytes = 16;
/**
 * Public on purpose: the code only detects forged or damaged cursors and protects no secret. So cursors survive a restart and work through
 * every transport.
 */
const key = "acp-skills list_skills cursor 1";

/** The list to which a cursor belongs. */
export interface CursorList {
  readonly namespace?: string | undefined;
  /** The words of a query, separated by spaces. */
  readonly query?: string | undefined;
}

/** The last row of a page; with a query, rows are ordered by rank first. */
export interface CursorPosition {
  readonly name: string;
  readonly rank?: number;
}

/** Writes an opaque keyset cursor: "after this row of this list". */
export function toCursor({ namespace, query }: CursorList, { name, rank }: CursorPosition): string {
  const body = Buffer.from(JSON.stringify([namespace ?? null, name, ...(query === undefined ? [] : [query, rank])]));
  return Buffer.concat([macOf(body), body]).toString("base64url");
}

/** Reads the row after which the page starts. Throws INVALID_CURSOR unless `toCursor` made this text for this list. */
export function fromCursor(cursor: string, { namespace, query }: CursorList): CursorPosition {
  const bytes = Buffer.from(cursor, "base64url");
  const body = bytes.subarray(macBytes);
  // Decoding is lenient: only the one spelling that `toCursor` writes is accepted.
  const isOurs = bytes.toString("base64url") === cursor && macOf(body).equals(bytes.subarray(0, macBytes));
  if (!isOurs) throw invalidCursor("This cursor was not returned by list_skills.");
  type Body = [space: string | null, name: string, words?: string, rank?: number];
  const [space, name, words, rank = 0] = JSON.parse(body.toString()) as Body;
  if (space !== (namespace ?? null)) throw invalidCursor("The cursor belongs to another namespace.");
  if (words !== query) throw invalidCursor("The cursor belongs to another query.");
  return { name, rank };
}

function macOf(body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(body).digest().subarray(0, macBytes);
}

function invalidCursor(message: string): SkillsError {
  const hint =
    "Pass next_cursor unchanged, with the same namespace and query, or omit cursor to start from the first page.";
  return new SkillsError("INVALID_CURSOR", message, { facts: { hint } });
}
