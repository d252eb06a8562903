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
  /** Whether models are told about skills. */
  readonly teach: boolean;
  /** Whether `/name` and `$name` at the start of a prompt are replaced by the skill's instructions. */
  readonly invokes: boolean;
}

/** Says how the user's words are to be amended; a promise only where a skill, or which ones there are, has to be read first. */
export type LookAtPrompt = (
  session: OpenedSession,
  method: string,
  params: JsonRecord,
  agent: { readonly takesResources: boolean },
) => readonly Amendment[] | Promise<readonly Amendment[]>;

/** How long a prompt that calls a skill waits for its text before it is sent on as it is. */
const invokingTime = 5_000;
/** How long a session's first prompt waits for the first reading of the disk. */
const readingTime = 2_000;

/** Puts a skill in the place of its call, and what is new to the model behind a prompt. */
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
    // What steers a turn does not begin one.
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
