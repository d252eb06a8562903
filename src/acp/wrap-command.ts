import type { Readable, Writable } from "node:stream";
import type { Clock } from "../clock.ts";
import { isSkillsError } from "../errors.ts";
import { readOptions, type Settings, type SkillsOptions } from "../options.ts";
import type { ByteInterceptor, LineSinks } from "./intercept-bytes.ts";
import { type Relay, relayLines } from "./relay-lines.ts";
import { type AgentCommand, type AgentProcess, type ExitStatus, startAgent } from "./start-agent.ts";

const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** How long an agent has to end by itself after its stdin was closed, and again after SIGTERM. */
const gracePeriod = 5_000;
/** How long stdout may be silent after the agent's end before it is let go. */
const lastWords = 1_000;

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
  readonly options?: SkillsOptions;
  readonly signals?: SignalSource;
  readonly platform?: NodeJS.Platform;
}

/**
 * Runs an agent command between `input` and `output`, with skills; resolves when the agent has ended. Bytes that do not concern
 * skills pass as they are. A command that cannot be started is a sentence on the log and exit code 127 or 126.
 * Throws SkillsError INVALID_OPTIONS.
 */
export async function wrapCommand(options: WrapCommandOptions): Promise<ExitStatus> {
  const settings = readOptions(options.options);
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

async function loadInterceptor(settings: Settings): Promise<(sinks: LineSinks) => ByteInterceptor> {
  const [{ interceptBytes }, { openSkillset }] = await Promise.all([
    import("./intercept-bytes.ts"),
    import("../skillset.ts"),
  ]);
  return (sinks) => interceptBytes(openSkillset(settings), settings, sinks);
}

async function connect(
  agent: AgentProcess,
  loading: ReturnType<typeof loadInterceptor>,
  { clock, log }: Settings,
  { input, output, signals = process }: WrapCommandOptions,
): Promise<ExitStatus> {
  const forward = (signal: NodeJS.Signals): void => {
    agent.kill(signal);
  };
  for (const signal of forwardedSignals) signals.on(signal, forward);
  try {
    // When a process ends, Node throws away what it had printed, unless somebody listens.
    agent.stdout.on("readable", keep);
    const intercept = await loading;
    const interceptor = intercept({
      toEditor: (line) => output.write(line),
      toAgent: (line) => agent.stdin.write(line),
    });
    const fromEditor = relayLines(input, agent.stdin, interceptor.passFromEditor);
    const fromAgent = relayLines(agent.stdout, output, interceptor.passFromAgent);
    agent.stdout.off("readable", keep);
    const stopWaiting = endWithEditor(agent, fromEditor, output, clock);
    const status = await agent.exited;
    stopWaiting();
    fromEditor.stop();
    await drain(fromAgent, clock);
    await interceptor.close();
    fromAgent.stop();
    await flush(output);
    if (status.signal !== undefined) log("error", `The agent was ended by ${status.signal}.`);
    else if (status.exitCode !== 0) log("error", `The agent ended with exit code ${status.exitCode}.`);
    return status;
  } finally {
    for (const signal of forwardedSignals) signals.off(signal, forward);
  }
}

const keep = (): void => undefined;

/** When the editor goes, so does the agent: its stdin is closed, and after a while it is told to go, then made to. */
function endWithEditor(agent: AgentProcess, fromEditor: Relay, output: Writable, clock: Clock): () => void {
  let stop = (): void => undefined;
  let isLeaving = false;
  const leave = (): void => {
    if (isLeaving) return;
    isLeaving = true;
    agent.stdin.end();
    stop = clock.after(gracePeriod, () => {
      agent.kill("SIGTERM");
      stop = clock.after(gracePeriod, () => {
        agent.kill("SIGKILL");
      });
    });
  };
  void fromEditor.ended.then(leave);
  output.once("error", leave).once("close", leave);
  return () => {
    isLeaving = true;
    stop();
    output.off("error", leave).off("close", leave);
  };
}

/** Waits for the agent's last words: as long as they flow, for a child of the agent may hold its stdout open for ever. */
async function drain(fromAgent: Relay, clock: Clock): Promise<void> {
  const ended = fromAgent.ended.then(() => true);
  for (let isOver = false; !isOver;) {
    let stop = (): void => undefined;
    const silent = new Promise<boolean>((resolve) => {
      stop = clock.after(lastWords, () => {
        resolve(!fromAgent.isActive());
      });
    });
    isOver = await Promise.race([ended, silent]);
    stop();
  }
}

/** Waits until what was written has left this process, or nobody takes it any more. */
async function flush(output: Writable): Promise<void> {
  if (output.destroyed || output.writableEnded) return;
  await new Promise<void>((resolve) => {
    output.write("", () => {
      resolve();
    });
  });
}
