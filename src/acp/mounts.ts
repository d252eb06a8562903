import type { AgentConnectOptions, Stream } from "@agentclientprotocol/sdk";
import { hasNothingToDo, readOptions, type Settings, type SkillsOptions } from "../runtime/options.ts";
import { invalidOptions } from "../base/errors.ts";
import { createDeferred } from "../base/promises.ts";
import type { MessageStream } from "../wire/methods.ts";
import { interceptStream } from "./relay/intercept-stream.ts";
import type { ExitStatus } from "./relay/start-agent.ts";
import type { WrapCommandOptions } from "./wrap-command.ts";
import type { SkillService } from "./skill-service.ts";
import { RemoteSkills, type NewSession, type SkillsHandle, withHandle } from "./in-process/remote-skills.ts";

/** An app, router or server of SDK 2.x: its AgentConnector, with the type that `connect` returns. */
export interface Connectable<Connection> {
  connect(stream: Stream, options?: AgentConnectOptions): Connection;
}

/**
 * Adds the skills of each session's directories to an app, router or server, for agent authors on SDK 2.x. All connections share one
 * service thread. Throws SkillsError INVALID_OPTIONS.
 */
export function withSkills<Connection>(
  agent: Connectable<Connection>,
  options?: SkillsOptions,
): Connectable<Connection> & SkillsHandle {
  if (typeof (agent as Partial<typeof agent> | undefined)?.connect !== "function")
    throw invalidOptions(
      "withSkills needs an app, router or server of SDK 2.x. Older agents pass their stream to wrapStream.",
    );
  const mount = openMount(readOptions(options));
  return withHandle<Connectable<Connection>>(
    { connect: (stream, connectOptions) => agent.connect(mount.add(stream), connectOptions) },
    mount,
  );
}

/**
 * Adds the skills of each session's directories to a stream, for agent authors on any SDK version. Pass the returned stream to the agent
 * instead of `stream`. Throws SkillsError INVALID_OPTIONS.
 */
export function wrapStream<Message>(
  stream: MessageStream<Message>,
  options?: SkillsOptions,
): MessageStream<Message> & SkillsHandle {
  if (!("readable" in stream && "writable" in stream))
    throw invalidOptions("wrapStream needs a stream of messages: {readable, writable}, as ndJsonStream returns.");
  const mount = openMount(readOptions(options));
  return withHandle({ ...mount.add(stream) }, mount);
}

/**
 * Runs an agent command between `input` and `output`, with skills. Resolves when the agent has exited. Messages that do not concern skills
 * are forwarded byte for byte. A command that cannot be started is logged, with exit code 127 or 126. `close` ends the agent like an
 * editor that exits. The code is loaded by the call. Rejects with SkillsError INVALID_OPTIONS.
 */
export function wrapCommand(options: WrapCommandOptions): Promise<ExitStatus> & SkillsHandle {
  const closing = new AbortController();
  const { promise: service, resolve: opened } = createDeferred<SkillService | undefined>();
  async function run(): Promise<ExitStatus> {
    try {
      const { wrapAgentCommand } = await import("./wrap-command.ts");
      return await wrapAgentCommand(options, { closing: closing.signal, opened });
    } finally {
      opened(undefined);
    }
  }
  const exited = run();
  const openSession = (session: NewSession): RemoteSkills =>
    remoteSkills(service, readOptions(options.options), session);
  return withHandle(exited, {
    open: () => openSession({ cwd: process.cwd() }),
    openSession,
    async close() {
      closing.abort();
      await exited.catch(() => undefined);
    },
  });
}

interface SharedService {
  readonly service: Promise<SkillService>;
  users: number;
}

/** Adds skills to streams, which share one service: opened for the first stream, closed after the last, reopened for the next. */
function openMount(settings: Settings) {
  let current: SharedService | undefined;
  let isClosed = false;

  function use(): SharedService {
    current ??= { service: openService(settings), users: 0 };
    current.users++;
    return current;
  }

  /** Opens the skills of a session, which counts as one more open stream until the service is closed. */
  const openSession = (session: NewSession): RemoteSkills =>
    remoteSkills(isClosed ? Promise.resolve(undefined) : use().service, settings, session);

  return {
    add<Message>(stream: MessageStream<Message>): MessageStream<Message> {
      if (isClosed || hasNothingToDo(settings)) return stream;
      const used = use();
      return interceptStream(stream, used.service, settings, () => {
        if (--used.users > 0) return;
        if (current === used) current = undefined;
        void closeOpened(used.service);
      });
    },
    openSession,
    open: () => openSession({ cwd: process.cwd() }),
    /** Closes the service. Messages of open streams then pass unchanged. */
    async close() {
      isClosed = true;
      await closeOpened(current?.service);
    },
  };
}

/** Opens the skills of a session; closed if there is no service. */
function remoteSkills(
  service: Promise<SkillService | undefined>,
  settings: Settings,
  session: NewSession,
): RemoteSkills {
  const serve: SkillService["serveSkills"] = (port, opening) => {
    const close = (): void => port.close();
    service.then((opened) => (opened === undefined ? close() : opened.serveSkills(port, opening)), close);
  };
  return new RemoteSkills(serve, settings, session);
}

/** Closes a service. A failure to open it was reported to the streams already. */
async function closeOpened(service: Promise<SkillService> | undefined): Promise<void> {
  const opened = await service?.catch(() => undefined);
  await opened?.close();
}

async function openService(settings: Settings): Promise<SkillService> {
  const { openService: open } = await import("./remote-service.ts");
  return open(settings);
}
