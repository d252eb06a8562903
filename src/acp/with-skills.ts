import type { AgentConnectOptions, AgentConnector } from "@agentclientprotocol/sdk";
import { readOptions, type SkillsOptions } from "../options.ts";
import { interceptStream } from "./bytes/intercept-stream.ts";
import { shareService } from "./service/share-service.ts";

/**
 * For agent authors on SDK 2.x: adds the skills of each session's directories to an app, router or server. All connections share one
 * service thread. Throws SkillsError INVALID_OPTIONS.
 */
export function withSkills(agent: AgentConnector, options?: SkillsOptions): AgentConnector {
  const settings = readOptions(options);
  const services = shareService(settings);
  return {
    connect(stream, connectOptions?: AgentConnectOptions) {
      const { service, release } = services.use();
      return agent.connect(interceptStream(stream, service, settings, release), connectOptions);
    },
  };
}
