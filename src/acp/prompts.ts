import type { Log } from "../log.ts";
import type { Skill } from "../skills/skill.ts";
import { sessionPrompt } from "../wire/methods.ts";
import type { Amendment } from "./amend.ts";
import { findInvocation, type Instructions, type Invocation, rewritePrompt } from "./prompt.ts";
import type { JsonRecord } from "./raw-message.ts";
import type { Session } from "./session.ts";
import { addBlock, toBlock } from "./teaching.ts";

export interface PromptsOptions {
  readonly readInstructions: (skill: Skill) => Promise<Instructions>;
  /** When this connection began, in milliseconds since 1970: an agent may show skills as they were then. */
  readonly startedAt: number;
  readonly log: Log;
}

/** Says how the user's words are to be amended; a promise only where a skill, or which ones there are, has to be read first. */
export type LookAtPrompt = (
  session: Session,
  method: string,
  params: JsonRecord,
  agent: { readonly embeddedContext: boolean },
) => readonly Amendment[] | Promise<readonly Amendment[]>;

/** Puts a skill in the place of its call, and what is new to the model behind a prompt. */
export function openPrompts({ readInstructions, startedAt, log }: PromptsOptions): LookAtPrompt {
  async function invoke(session: Session, invocation: Invocation, embeddedContext: boolean): Promise<Amendment[]> {
    const found = await session.find(invocation.name);
    if (found === undefined) return [];
    const { offered, shown } = found;
    // A name that the agent gave to something else is its own; the skill still has its dollar sign.
    if (shown === "as-other" && invocation.sigil === "/") return [];
    try {
      const instructions = await readInstructions(offered.skill);
      // What the agent shows is its own to run, unless it may have read it before an edit.
      if (shown === "as-skill" && instructions.changedAt <= startedAt) return [];
      return rewritePrompt(invocation, offered, instructions, embeddedContext);
    } catch (error) {
      const { slug } = offered.skill;
      log("warning", `The skill ${slug} could not be read: ${String(error)}. The prompt is sent as it is.`);
      return [];
    }
  }

  /** Ahead of the rewriting, because its place is told by the prompt as it came. */
  function withLesson(
    session: Session,
    prompt: unknown,
    rewritten: readonly Amendment[],
    embeddedContext: boolean,
  ): readonly Amendment[] {
    const lesson = session.lesson();
    const added = lesson && addBlock(prompt, toBlock(lesson.text, embeddedContext), rewritten.length > 0);
    if (added === undefined) return rewritten;
    lesson?.told();
    return [added, ...rewritten];
  }

  return (session, method, { prompt }, { embeddedContext }) => {
    session.promptArrived();
    const invocation = findInvocation(prompt);
    // What steers a turn does not begin one.
    const teaches = method === sessionPrompt;
    const amend = (rewritten: readonly Amendment[]): readonly Amendment[] =>
      teaches ? withLesson(session, prompt, rewritten, embeddedContext) : rewritten;
    if (invocation !== undefined) return invoke(session, invocation, embeddedContext).then(amend);
    const reading = teaches ? session.firstReading() : undefined;
    return reading === undefined ? amend([]) : reading.then(() => amend([]));
  };
}
