import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { isSkillsError } from "../../errors.ts";
import {
  hasNothingToDo,
  readOptions,
  refuseUnknown,
  type Settings,
  type SkillsOptions,
  type Surroundings,
} from "../../options.ts";
import type { ByteInterceptor, LineSinks } from "../bytes/intercept-bytes.ts";
import { flush, passLastWords } from "./last-words.ts";
import { type Relay, relayLines } from "../bytes/relay-lines.ts";
import { type AgentCommand, type AgentProcess, type ExitStatus, startAgent } from "./start-agent.ts";

/** Those that ask a process to end. A system hears only the names it knows: SIGBREAK is Windows' own. */
const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGBREAK"] as const;
/** How long an agent has to end by itself after its stdin was closed, and again after SIGTERM. */
const gracePeriod = 5_000;

/** Where signals to this process are heard; `process` is one. */
interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
}

export interface WrapCommandOptions extends AgentCommand {
  /** From the editor. */
  readonly input: Readable;
  /** To the editor; it is not ended. */
  readonly output: Writable;
  /** Called when the agent has closed its stdout but lives on: all that it said has been written. Must not throw. */
  readonly endOutput?: () => void;
  readonly options?: SkillsOptions;
  readonly signals?: SignalSource;
  readonly platform?: NodeJS.Platform;
}

const optionNames = Object.keys({
  command: true,
  args: true,
  cwd: true,
  env: true,
  input: true,
  output: true,
  endOutput: true,
  options: true,
  signals: true,
  platform: true,
} satisfies Record<keyof WrapCommandOptions, true>);

/**
 * Runs an agent command between `input` and `output`, with skills; resolves when the agent has ended. Bytes that do not concern
 * skills pass as they are. A command that cannot be started is a sentence on the log and exit code 127 or 126.
 * Throws SkillsError INVALID_OPTIONS.
 * @param surroundings For tests only.
 */
export async function wrapCommand(options: WrapCommandOptions, surroundings: Surroundings = {}): Promise<ExitStatus> {
  refuseUnknown(options, optionNames);
  const settings = readOptions(options.options, surroundings);
  // The process first: what we need is loaded while the agent boots.
  const starting = startAgent(options, options.platform);
  const loading = loadInterceptor(settings);
  loading.catch(() => undefined);
  try {
    return await connect(await starting, loading, settings, options);
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    settings.log("error", error.message);
    return { exitCode: error.code === "AGENT_NOT_FOUND" ? 127 : 126 };
  }
}

interface Served {
  readonly interceptor: ByteInterceptor;
  /** Resolves when what was served is gone. */
  readonly close: () => Promise<void>;
}

/** Where there is nothing to do, nothing is loaded. */
const transparent: Served = {
  interceptor: {
    passFromEditor: (block) => [block],
    passFromAgent: (block) => [block],
    editorLeft: () => undefined,
    close: () => undefined,
  },
  close: () => Promise.resolve(),
};

async function loadInterceptor(settings: Settings): Promise<(sinks: LineSinks) => Served> {
  if (hasNothingToDo(settings)) return () => transparent;
  const [{ interceptBytes }, { openService }] = await Promise.all([
    import("../bytes/intercept-bytes.ts"),
    import("../service/open-service.ts"),
  ]);
  const service = openService(settings);
  return (sinks) => {
    const interceptor = interceptBytes(service, settings, sinks);
    return {
      interceptor,
      async close() {
        interceptor.close();
        await service.close();
      },
    };
  };
}

async function connect(
  agent: AgentProcess,
  loading: ReturnType<typeof loadInterceptor>,
  { clock, log }: Settings,
  { input, output, signals = process, endOutput }: WrapCommandOptions,
): Promise<ExitStatus> {
  let tellToGo = (): void => undefined;
  const toldToGo = new Promise<void>((resolve) => {
    tellToGo = resolve;
  });
  const ended = { agent: false, output: false };
  const forward = (signal: NodeJS.Signals): void => {
    if (ended.agent) tellToGo();
    else agent.kill(signal);
  };
  for (const signal of forwardedSignals) signals.on(signal, forward);
  try {
    // When a process ends, Node throws away what it had printed, unless somebody listens.
    agent.stdout.on("readable", keep);
    const intercept = await loading;
    const { interceptor, close } = intercept({
      toEditor(line, written) {
        if (output.destroyed) written();
        else
          output.write(line, () => {
            written();
          });
      },
      toAgent: (line) => agent.stdin.write(line),
    });
    const fromEditor = relayLines(input, agent.stdin, interceptor.passFromEditor);
    void fromEditor.sourceEnded.then(interceptor.editorLeft);
    const fromAgent = relayLines(agent.stdout, output, interceptor.passFromAgent);
    // By its first word, a launcher has started its program.
    agent.stdout.off("readable", keep).once("data", agent.look);
    const ending = endWithEditor(agent, fromEditor, output, clock);
    void fromAgent.ended.then(async () => {
      // An agent that says no more has nothing to be asked, and its editor nothing to wait for.
      void close();
      ending.leave();
      await flush(output);
      if (ended.agent) return;
      ended.output = true;
      endOutput?.();
    });
    const status = await agent.exited;
    ended.agent = true;
    ending.stop();
    if (!ended.output) await passLastWords({ fromEditor, fromAgent, output, clock, enough: toldToGo });
    await Promise.all([Promise.race([close(), toldToGo]), agent.endRest(clock, toldToGo)]);
    fromEditor.stop();
    fromAgent.stop();
    if (status.signal !== undefined) log("error", `The agent was ended by ${status.signal}.`);
    else if (status.exitCode !== 0) log("error", `The agent ended with exit code ${status.exitCode}.`);
    return status;
  } finally {
    for (const signal of forwardedSignals) signals.off(signal, forward);
  }
}

const keep = (): void => undefined;

interface Ending {
  /** Makes the agent leave. */
  readonly leave: () => void;
  /** The agent has left. */
  readonly stop: () => void;
}

/** When the editor goes, so does the agent: its stdin is closed, and after a while it is told to go, then made to. */
function endWithEditor(agent: AgentProcess, fromEditor: Relay, output: Writable, clock: Clock): Ending {
  let stop = (): void => undefined;
  let isLeaving = false;
  const leave = (): void => {
    if (isLeaving) return;
    isLeaving = true;
    agent.look();
    agent.stdin.end();
    stop = clock.after(gracePeriod, () => {
      agent.killTree("SIGTERM");
      stop = clock.after(gracePeriod, () => {
        agent.killTree("SIGKILL");
      });
    });
  };
  void fromEditor.ended.then(leave);
  output.once("error", leave).once("close", leave);
  return {
    leave,
    stop() {
      isLeaving = true;
      stop();
      output.off("error", leave).off("close", leave);
    },
  };
}
