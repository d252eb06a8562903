import type { AgentConnectOptions, AgentConnector } from "@agentclientprotocol/sdk";
import { readOptions, type SkillsOptions } from "../options.ts";
import { interceptStream } from "./bytes/intercept-stream.ts";
import { openService } from "./service/open-service.ts";
import { shareService } from "./service/share-service.ts";

/**
 * For agent authors on SDK 2.x: the same app, router or server, whose editors see the skills of each session's directories.
 * All its connections share what they read from disk, on a thread of its own. Throws SkillsError INVALID_OPTIONS.
 */
export function withSkills(agent: AgentConnector, options?: SkillsOptions): AgentConnector {
  const settings = readOptions(options);
  const services = shareService(() => openService(settings));
  return {
    connect(stream, connectOptions?: AgentConnectOptions) {
      const { service, release } = services.use();
      return agent.connect(interceptStream(stream, service, settings, release), connectOptions);
    },
  };
}
