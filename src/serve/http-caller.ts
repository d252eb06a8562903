import type { McpCaller } from "../mcp/mcp-door.ts";
import type { PublishedSkill } from "./publish/publication.ts";

/** Who sent a request. */
export interface HttpCaller {
  /** As in the configuration; `anonymous` without credentials. */
  readonly name: string;
  readonly isAnonymous: boolean;
  /** Most bytes of one request. */
  readonly requestBytes: number;
  /** For the tools: with its own owner, visible skills and tools. */
  readonly tools: McpCaller;
  /**
   * Whether the documents of discovery show it the skill (seed, 5.5): without credentials all but private ones; with credentials all that
   * its configuration lets it see.
   */
  readonly discovers: (published: PublishedSkill) => boolean;
  /** Whether it may invoke the skill: without credentials public ones only. */
  readonly invokes: (published: PublishedSkill) => boolean;
  /** Callers with the same view discover the same skills: a key for what is kept ready for them. */
  readonly view: string;
}
