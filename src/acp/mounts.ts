import type { AgentConnectOptions, AgentConnector } from "@agentclientprotocol/sdk";
import { hasNothingToDo, readOptions, type Settings, type SkillsOptions } from "../runtime/options.ts";
import type { MessageStream } from "../wire/methods.ts";
import { interceptStream } from "./relay/intercept-stream.ts";
import type { ExitStatus } from "./relay/start-agent.ts";
import type { WrapCommandOptions } from "./wrap-command.ts";
import type { SkillService } from "./skill-service.ts";

/**
 * For agent authors on SDK 2.x: adds the skills of each session's directories to an app, router or server. All connections share one
 * service thread. Throws SkillsError INVALID_OPTIONS.
 */
export function withSkills(agent: AgentConnector, options?: SkillsOptions): AgentConnector {
  const addSkills = openStreamMount(readOptions(options));
  return {
    connect: (stream, connectOptions?: AgentConnectOptions) => agent.connect(addSkills(stream), connectOptions),
  };
}

/**
 * For agent authors: pass the returned stream to the agent instead of `stream`, and its editor gets the skills of each session's
 * directories. Works with every SDK version. Throws SkillsError INVALID_OPTIONS.
 */
export function wrapStream<Message>(stream: MessageStream<Message>, options?: SkillsOptions): MessageStream<Message> {
  return openStreamMount(readOptions(options))(stream);
}

/**
 * Runs an agent command between `input` and `output`, with skills; resolves when the agent has exited. Messages that do not concern
 * skills are forwarded byte for byte. A command that cannot be started is logged, with exit code 127 or 126. Its code is loaded by the
 * call. Rejects with SkillsError INVALID_OPTIONS.
 */
export async function wrapCommand(options: WrapCommandOptions): Promise<ExitStatus> {
  const { wrapAgentCommand: wrap } = await import("./wrap-command.ts");
  return await wrap(options);
}

/** Adds skills to streams. They share one service: loaded and opened for the first, closed after the last, reopened for the next. */
function openStreamMount(settings: Settings): <Message>(stream: MessageStream<Message>) => MessageStream<Message> {
  let current: { readonly service: Promise<SkillService>; streams: number } | undefined;
  return (stream) => {
    if (hasNothingToDo(settings)) return stream;
    const shared = (current ??= { service: openService(settings), streams: 0 });
    shared.streams++;
    return interceptStream(stream, shared.service, settings, () => {
      if (--shared.streams > 0) return;
      if (current === shared) current = undefined;
      // A failure to open was reported to the streams.
      shared.service.then(
        (service) => service.close(),
        () => undefined,
      );
    });
  };
}

async function openService(settings: Settings): Promise<SkillService> {
  const { openService: open } = await import("./remote-service.ts");
  return open(settings);
}
