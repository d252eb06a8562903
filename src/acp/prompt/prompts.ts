import type { Clock } from "../../base/clock.ts";
import { sessionPrompt } from "../../wire/methods.ts";
import type { Amendment } from "../bytes/amend.ts";
import { callByCommand, findInvocation, type Invocation, rewritePrompt } from "./prompt.ts";
import type { JsonRecord } from "../bytes/raw-message.ts";
import type { ServiceConnection } from "../service/skill-service.ts";
import type { OpenedSession } from "../session/sessions.ts";
import { addBlock, toBlock } from "./teaching.ts";
import { withinTime } from "../session/within-time.ts";

export interface PromptsOptions {
  readonly service: Pick<ServiceConnection, "invoke" | "taught">;
  readonly clock: Clock;
  /** Whether lessons about skills are added to prompts. */
  readonly teach: boolean;
  /** Whether `/name` and `$name` at the start of a prompt are replaced by the skill's instructions. */
  readonly invokes: boolean;
}

/** How a prompt is amended; a promise only if skills must be read first. */
export type LookAtPrompt = (
  session: OpenedSession,
  method: string,
  params: JsonRecord,
  agent: { readonly takesResources: boolean },
) => readonly Amendment[] | Promise<readonly Amendment[]>;

/** How long a prompt waits for the text of the skill that it invokes. */
const invokingTime = 5_000;
/** How long a session's first prompt waits until the skills were read. */
const readingTime = 2_000;

/** Replaces the invocation of a skill by its instructions, and appends lessons to prompts. */
export function openPrompts({ service, clock, teach, invokes }: PromptsOptions): LookAtPrompt {
  async function invoke(
    invoked: ReturnType<ServiceConnection["invoke"]>,
    invocation: Invocation,
    takesResources: boolean,
  ): Promise<readonly Amendment[]> {
    const skill = await withinTime(Promise.resolve(invoked), clock, invokingTime);
    if (skill === undefined) return [];
    if ("command" in skill) return callByCommand(invocation, skill.command);
    return rewritePrompt(invocation, skill, takesResources);
  }

  function withLesson(
    { opening: { key, lesson } }: OpenedSession,
    prompt: unknown,
    rewritten: readonly Amendment[],
  ): readonly Amendment[] {
    if (lesson.next === undefined) return rewritten;
    const amended = addBlock(prompt, toBlock(lesson.next.text, lesson.next.label), rewritten);
    if (amended === undefined) return rewritten;
    lesson.take((ticket) => {
      service.taught(key, ticket);
    });
    return amended;
  }

  return (session, method, { prompt }, { takesResources }) => {
    const { key, lesson, isTaught } = session.opening;
    const invocation = invokes ? findInvocation(prompt) : undefined;
    // A steering message does not begin a turn.
    const teaches = teach && isTaught && method === sessionPrompt;
    const amend = (rewritten: readonly Amendment[]): readonly Amendment[] =>
      teaches ? withLesson(session, prompt, rewritten) : rewritten;
    if (invocation !== undefined) {
      const { name, sigil } = invocation;
      return invoke(service.invoke(key, name, sigil), invocation, takesResources).then(amend);
    }
    if (!teaches || lesson.isReady || session.hasWaited) return amend([]);
    session.hasWaited = true;
    return withinTime(lesson.ready, clock, readingTime).then(() => amend([]));
  };
}
