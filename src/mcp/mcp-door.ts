import type { Log } from "../log.ts";
import type { SkillHasher } from "../tools/hash-skill.ts";
import type { SkillSource } from "../tools/skill-source.ts";
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

/** Who calls through the door. Everything but the door's own name, and how to hear of a change. */
export interface McpCaller extends Omit<ToolContext, "door" | "skills" | "onPrint"> {
  /** Aborted when the turn is cancelled in which a call is made; the next turn has another. */
  readonly turn?: () => AbortSignal;
  /** Where a client says by which id its editor knows a call: what is to be told what it prints while it runs. */
  readonly follow?: (toolCallId: string) => (text: string) => void;
  readonly skills: ToolContext["skills"] & {
    /** Calls back after the skills changed; the returned function ends that. A catalog has it. */
    readonly onChange?: (listener: () => void) => () => void;
  };
}
