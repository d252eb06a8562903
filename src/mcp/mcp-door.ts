import type { Log } from "../base/log.ts";
import type { SkillHasher } from "../skills/hash/hash-skill.ts";
import type { SkillSource } from "../skills/files/skill-source.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { Toolbox } from "../tools/toolbox.ts";

/** What the door serves, the same to every caller. */
export interface McpDoor {
  readonly toolbox: Pick<Toolbox, "call">;
  /** Where the files of skills are. */
  readonly source: SkillSource;
  readonly hasher: SkillHasher;
  readonly log: Log;
  /** Of this package, told to clients. */
  readonly version: string;
}

/** One call, as far as it tells an editor's calls apart. */
export interface FollowedCall {
  /** The id by which the client's editor knows it, where the client says so. */
  readonly toolCallId: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

/** Who calls through the door. Everything but the door's own name, and how to hear of a change. */
export interface McpCaller extends Omit<ToolContext, "door" | "skills" | "onPrint"> {
  /** Aborted when the turn is cancelled in which a call is made; the next turn has another. */
  readonly turn?: () => AbortSignal;
  /** What is to be told what a call prints while it runs, where its editor knows that call. */
  readonly follow?: (call: FollowedCall) => ((text: string) => void) | undefined;
  /** A client has asked for the tools, so that its model has them. */
  readonly onReached?: () => void;
  readonly skills: ToolContext["skills"] & {
    /** Calls back after the skills changed; the returned function ends that. A catalog has it. */
    readonly onChange?: (listener: () => void) => () => void;
  };
}
