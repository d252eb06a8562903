import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { namesIn } from "../../base/paths/directories.ts";
import { isRunning } from "../../base/processes/live-process.ts";
import { SkillsError } from "../../base/errors.ts";
import { type ListedSession, maxTextLength, maxReportedNames, maxForms, maxSessions } from "../ledger.ts";

const maxFiles = 1_000;
const maxFileBytes = 4 * 1024 * 1024;

const text = z.string().max(maxTextLength);
/** An ACP session: its editor and agent, and the skills that were announced to the editor. Texts are as editor and agent gave them. */
const sessionRecord = z
  .object({
    sessionId: text,
    agent: text,
    editor: text,
    /** The session's directory, if it has one. */
    directory: text.optional(),
    /** Milliseconds since 1970, like all times here. */
    openedAt: z.number(),
    closedAt: z.number().optional(),
    /** Names of the updates in which the editor gets skills. */
    forms: z.array(text).max(maxForms).readonly(),
    /** Whether the model of the session has been given the tools. */
    tools: z.boolean(),
    /** The latest announced list: the number of skills, and the first of their slugs. */
    announced: z
      .object({ at: z.number(), skills: z.number(), names: z.array(text).max(maxReportedNames).readonly() })
      .readonly()
      .optional(),
  })
  .readonly();
export type SessionRecord = z.infer<typeof sessionRecord>;

const fileSchema = z.object({
  process: z.object({ pid: z.int(), started: z.string(), space: z.string() }),
  sessions: z.array(sessionRecord).max(maxSessions),
});

/** The records of every process of this user: open sessions first, then the newest. Throws UNREADABLE. */
export async function readSessionRecords(directory: string): Promise<readonly ListedSession[]> {
  const known: ListedSession[] = [];
  for (const name of recordFiles(directory).slice(0, maxFiles))
    known.push(...(await readFileOf(path.join(directory, name))));
  const end = ({ isOpen, closedAt, openedAt }: ListedSession): number => (isOpen ? Infinity : (closedAt ?? openedAt));
  return known.sort((one, other) => end(other) - end(one) || other.openedAt - one.openedAt);
}

function recordFiles(directory: string): readonly string[] {
  try {
    return namesIn(directory).filter((name) => /^\d+-[0-9a-f]{12}\.json$/.test(name));
  } catch (error) {
    const message = `The records of sessions in ${directory} cannot be read: ${String(error)}`;
    throw new SkillsError("UNREADABLE", message, { cause: error, facts: { path: directory } });
  }
}

/** The sessions in a file; empty if it is damaged, too large, gone meanwhile, or of another program. */
async function readFileOf(file: string): Promise<readonly ListedSession[]> {
  try {
    const { size, mtimeMs } = await stat(file);
    if (size > maxFileBytes) return [];
    const { process: owner, sessions } = fileSchema.parse(JSON.parse(await readFile(file, "utf8")));
    const hasEnded = isRunning(owner) === false;
    return sessions.map((session) => {
      const closedAt = session.closedAt ?? (hasEnded ? mtimeMs : undefined);
      return { ...session, closedAt, isOpen: closedAt === undefined };
    });
  } catch {
    return []; // One bad file hides no other.
  }
}
