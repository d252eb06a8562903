import type { AgentConnectOptions, AgentConnector } from "@agentclientprotocol/sdk";
import { readOptions, type SkillsOptions } from "../options.ts";
import { openSkillset } from "../skillset.ts";
import { interceptStream } from "./intercept-stream.ts";

/**
 * For agent authors on SDK 2.x: the same app, router or server, whose editors see the skills of each session's directories.
 * All its connections share what they read from disk. Throws SkillsError INVALID_OPTIONS.
 */
export function withSkills(agent: AgentConnector, options?: SkillsOptions): AgentConnector {
  const settings = readOptions(options);
  const skillset = openSkillset(settings);
  return {
    connect: (stream, connectOptions?: AgentConnectOptions) =>
      agent.connect(interceptStream(stream, skillset, settings), connectOptions),
  };
}
