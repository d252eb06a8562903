import { hash, randomUUID } from "node:crypto";
import type { SessionSkills } from "../skills/skillset.ts";
import type { ToolCaller } from "./tools/tool.ts";
import type { Ask } from "./question.ts";

export { toSkillRows } from "./caller/skill-rows.ts";
export { type DeniedSkills, deniedSkills } from "./trust/policy.ts";
export { type SeenSkills, type SkillView, seeSkills, viewSkills, visibleTo } from "./caller/skill-view.ts";
export { rankByWords, toQueryWords } from "./caller/rank-by-words.ts";
export { guideSkill } from "./caller/guide.ts";

/** A caller of tools, and what it may see and use. {@link createCaller} makes one. */
export interface Caller extends ToolCaller {
  readonly skills: ToolCaller["skills"] & {
    /** Calls `listener` after the skills changed; the returned function unsubscribes. */
    readonly onChange?: (listener: () => void) => () => void;
  };
}

/** The owner of the blobs of the command line, and of calls without a session. */
export const localOwner = "local";

/** The fields of a session's skills from which a caller is made. */
export type CallerBase = Pick<SessionSkills, "catalog" | "directory" | "identity">;

/** Facts about a caller besides its session's skills and directory. */
export interface CallerFacts extends Pick<
  ToolCaller,
  "transport" | "sessionId" | "visible" | "tools" | "onEvent" | "ask"
> {
  /** The name that the agent gave itself in `initialize`. */
  readonly agent?: string | undefined;
  /** Default: {@link ownerOf} the session. */
  readonly owner?: string | undefined;
}

/** Creates the caller of a session; without a session id, the caller is the user at this machine. */
export function createCaller({ catalog, directory, identity }: CallerBase, facts: CallerFacts): Caller {
  const { agent, ...rest } = facts;
  const owner = facts.owner ?? ownerOf(facts.sessionId, { agent, directory });
  return { ...rest, owner, skills: catalog, label: agent, project: directory, projectIdentity: identity };
}

/** The facts about a caller that are known before its session id. */
export interface OpeningFacts extends Omit<CallerFacts, "sessionId" | "owner" | "ask"> {
  /** Returns the function that asks the user in a session; before the session has begun, the user is not asked. */
  readonly askIn?: ((sessionId: string) => Ask) | undefined;
}

/** Creates a caller whose session id the agent has yet to choose. Until `begin`, its blobs have an owner of their own. */
export function createOpeningCaller(
  session: CallerBase,
  { askIn, ...facts }: OpeningFacts,
): { readonly caller: Caller; readonly begin: (sessionId: string) => void } {
  const caller = createCaller(session, { ...facts, owner: `opening:${randomUUID()}` });
  return {
    caller,
    begin(sessionId) {
      const owner = ownerOf(sessionId, { agent: facts.agent, directory: session.directory });
      Object.assign(caller, { sessionId, owner, ask: askIn?.(sessionId) });
    },
  };
}

/**
 * Returns the owner of a session's blobs. The same agent that loads the same session again in the same directory gets the same owner.
 * Session ids of other agents may be equal, so an id alone does not identify an owner.
 */
export function ownerOf(
  sessionId: string | undefined,
  { agent = "", directory = "" }: { readonly agent: string | undefined; readonly directory: string | undefined },
): string {
  if (sessionId === undefined) return localOwner;
  const origin = hash("sha256", JSON.stringify([agent, directory]));
  return `session:${sessionId}@${origin.slice(0, 16)}`;
}
