import type { AgentConnectOptions, AgentConnector } from "@agentclientprotocol/sdk";
import { readOptions, type Settings, type SkillsOptions } from "../options.ts";
import type { MessageStream } from "../wire/methods.ts";
import { interceptStream } from "./bytes/intercept-stream.ts";
import type { ExitStatus } from "./process/start-agent.ts";
import type { WrapCommandOptions } from "./process/wrap-command.ts";
import type { SkillService } from "./service/skill-service.ts";

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

/**
 * For agent authors: pass the returned stream to the agent instead of `stream`, and its editor gets the skills of each session's
 * directories. Works with every SDK version. Throws SkillsError INVALID_OPTIONS.
 */
export function wrapStream<Message>(stream: MessageStream<Message>, options?: SkillsOptions): MessageStream<Message> {
  const settings = readOptions(options);
  const { service, release } = shareService(settings).use();
  return interceptStream(stream, service, settings, release);
}

/**
 * Runs an agent command between `input` and `output`, with skills; resolves when the agent has exited. Messages that do not concern
 * skills are forwarded byte for byte. A command that cannot be started is logged, with exit code 127 or 126. Its code is loaded by the
 * call. Rejects with SkillsError INVALID_OPTIONS.
 */
export async function wrapCommand(options: WrapCommandOptions): Promise<ExitStatus> {
  const { wrapCommand: wrap } = await import("./process/wrap-command.ts");
  return await wrap(options);
}

/** One service for many connections: loaded and opened for the first, closed after the last; reopened for the next. */
interface SharedService {
  use(): { readonly service: Promise<SkillService>; readonly release: () => void };
}

/** @param open Default: on its own thread. */
function shareService(settings: Settings, open: (settings: Settings) => Promise<SkillService> = load): SharedService {
  let current: { readonly service: Promise<SkillService>; users: number } | undefined;
  return {
    use() {
      const shared = (current ??= { service: open(settings), users: 0 });
      shared.users++;
      let isReleased = false;
      return {
        service: shared.service,
        release() {
          if (isReleased) return;
          isReleased = true;
          if (--shared.users > 0) return;
          if (current === shared) current = undefined;
          // A failure to open was reported to its users.
          shared.service.then(
            (service) => service.close(),
            () => undefined,
          );
        },
      };
    },
  };
}

async function load(settings: Settings): Promise<SkillService> {
  const { openService } = await import("./service/remote-service.ts");
  return openService(settings);
}
