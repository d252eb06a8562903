import { type Readable, Writable } from "node:stream";
import { type Clock, withinTime } from "../base/clock.ts";
import { createDeferred } from "../base/promises.ts";
import { isSkillsError } from "../base/errors.ts";
import {
  type InjectedOptions,
  type Settings,
  type SkillsOptions,
  readOptions,
  refuseUnknown,
} from "../runtime/options.ts";
import { loadInterceptor } from "./relay/load-interceptor.ts";
import { type Relay, flush, lineWriter, relayLines } from "./relay/relay-lines.ts";
import { followInitialization } from "./relay/initialization.ts";
import type { SkillService } from "./skill-service.ts";
import { type AgentCommand, type AgentProcess, type ExitStatus, startAgent } from "./relay/start-agent.ts";

export { type AgentCommand, type AgentProcess, type ExitStatus, exitAs, startAgent } from "./relay/start-agent.ts";

/** The signals that ask a process to exit. SIGBREAK exists on Windows only. */
const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGBREAK"] as const;
/** The maximum time for an agent's exit after its stdin was closed, and again after SIGTERM. */
const graceMs = 5_000;

/** The source of signals: `process`. */
interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
}

export interface WrapCommandOptions extends AgentCommand {
  /** The bytes from the editor. */
  readonly input: Readable;
  /** The bytes to the editor. The stream is not ended. */
  readonly output: Writable;
  /** Called when the agent has closed its stdout but still runs, and all its output has been written. Must not throw. */
  readonly endOutput?: () => void;
  readonly options?: SkillsOptions;
}

/** The callbacks of `wrapCommand`, and dependencies that tests replace. */
interface WrapDependencies extends InjectedOptions {
  readonly signals?: SignalSource;
  readonly platform?: NodeJS.Platform;
  /** Ends the agent like an editor that exits. */
  readonly closing?: AbortSignal;
  /** Called with the service once it is open; undefined if there is none. */
  readonly opened?: (service: SkillService | undefined) => void;
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
} satisfies Record<keyof WrapCommandOptions, true>);

/** Implements `wrapCommand` in `acp/mounts.ts`. */
export async function wrapAgentCommand(
  options: WrapCommandOptions,
  dependencies: WrapDependencies = {},
): Promise<ExitStatus> {
  refuseUnknown(options, optionNames);
  const settings = readOptions(options.options, dependencies);
  // The agent comes first: the modules are loaded while it starts.
  const starting = startAgent(options, dependencies.platform);
  const loading = loadInterceptor(settings);
  loading.then(({ service }) => dependencies.opened?.(service)).catch(() => undefined);
  // A timer of Node keeps the process alive while the last messages and processes are awaited. The timers of the clock do not.
  const alive = setInterval(() => undefined, 2 ** 30);
  try {
    return await connect(await starting, loading, settings, options, dependencies);
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    settings.log("error", error.message);
    const isMissing = error.code === "AGENT_NOT_FOUND";
    const what = isMissing ? "not found; check its command" : "not executable; check the file";
    const { hint } = error.facts;
    const fix = typeof hint === "string" ? `not executable; fix: ${hint}` : `${what} in your editor's settings`;
    await refuseStart(options, settings.clock, `Agent ${fix}. ${error.message}`);
    const loaded = await loading.catch(() => undefined);
    await loaded?.service?.close();
    return { exitCode: isMissing ? 127 : 126 };
  } finally {
    clearInterval(alive);
  }
}

/** The maximum wait for the editor's first request if there is no agent. */
const firstRequestMs = 1_000;

/** Answers the editor's `initialize` with the reason why there is no agent. */
async function refuseStart({ input, output }: WrapCommandOptions, clock: Clock, reason: string): Promise<void> {
  const initialization = followInitialization({ passFromEditor: () => [], passFromAgent: () => [] });
  const ended = new Promise<unknown>((resolve) => input.once("end", resolve).once("error", resolve));
  const nowhere = new Writable({ write: (_lines, _encoding, done) => done() });
  const relay = relayLines(input, nowhere, initialization.fromEditor);
  await withinTime(Promise.race([initialization.asked, ended]), clock, firstRequestMs);
  relay.stop();
  initialization.refuse(output, reason);
  await flush(output);
}

async function connect(
  agent: AgentProcess,
  loading: ReturnType<typeof loadInterceptor>,
  { clock, log }: Settings,
  { input, output, endOutput }: WrapCommandOptions,
  { signals = process, closing }: WrapDependencies,
): Promise<ExitStatus> {
  const { promise: interrupted, resolve: interrupt } = createDeferred();
  const ended = { agent: false, output: false };
  const ending = openEnding(agent, clock);
  const forward = (signal: NodeJS.Signals): void => {
    if (ended.agent) interrupt();
    else ending.forward(signal);
  };
  for (const signal of forwardedSignals) signals.on(signal, forward);
  try {
    // When a process exits, Node discards its unread output unless there is a listener.
    agent.stdout.on("readable", retainOutput);
    const { intercept, service } = await loading;
    const interceptor = intercept({
      toEditor: lineWriter(output),
      toAgent: (line) => agent.stdin.write(line),
      waitedInLines: () => fromEditor.waitedInLines(),
    });
    const initialization = followInitialization(interceptor);
    const fromEditor = relayLines(input, agent.stdin, initialization.fromEditor);
    void fromEditor.sourceEnded.then(interceptor.editorLeft);
    void fromEditor.sourceEnded.then(initialization.editorLeft);
    const fromAgent = relayLines(agent.stdout, output, initialization.fromAgent);
    // A launcher has started its program when the first output arrives.
    agent.stdout.off("readable", retainOutput).once("data", agent.updateTree);
    void fromEditor.ended.then(ending.leave);
    output.once("error", ending.leave).once("close", ending.leave);
    if (closing?.aborted === true) ending.leave();
    closing?.addEventListener("abort", ending.leave);
    void fromAgent.ended.then(async () => {
      // Without output, nothing is left to serve. With `endOutput`, the agent may read until the editor leaves.
      if (endOutput === undefined) ending.leave();
      await flush(output);
      // The agent's exit is a better reason than its closed output.
      if (initialization.isOpen()) await withinTime(agent.exited, clock, firstRequestMs);
      if (ended.agent) return;
      initialization.refuse(output, "Agent closed its output; run its command in a terminal. It had not started.");
      await flush(output);
      ended.output = true;
      endOutput?.();
    });
    const status = await agent.exited;
    ended.agent = true;
    ending.stop();
    if (!ended.output) await passLastWords({ fromEditor, fromAgent }, output, clock, interrupted);
    const how = status.signal === undefined ? `exited with code ${status.exitCode}` : `was ended by ${status.signal}`;
    initialization.refuse(output, `Agent ${how}; run its command in a terminal. It ended before it had started.`);
    interceptor.close();
    await Promise.all([Promise.race([service?.close(), interrupted]), agent.endRest(clock, interrupted)]);
    fromEditor.stop();
    fromAgent.stop();
    if (status.signal !== undefined) log("error", `The agent was terminated by ${status.signal}.`);
    else if (status.exitCode !== 0) log("error", `The agent exited with code ${status.exitCode}.`);
    return status;
  } finally {
    output.off("error", ending.leave).off("close", ending.leave);
    for (const signal of forwardedSignals) signals.off(signal, forward);
  }
}

const retainOutput = (): void => undefined;

function openEnding(agent: AgentProcess, clock: Clock) {
  let stop = (): void => undefined;
  let isLeaving = false;
  let isTerminated = false;
  const killLater = (): void => {
    if (isTerminated) return;
    isTerminated = true;
    stop();
    stop = clock.after(graceMs, () => agent.killTree("SIGKILL"));
  };
  return {
    /** Called when the editor leaves. Closes the agent's stdin; after a grace period each, the agent gets SIGTERM, then SIGKILL. */
    leave: () => {
      if (isLeaving) return;
      isLeaving = true;
      agent.updateTree();
      agent.stdin.end();
      if (isTerminated) return;
      stop = clock.after(graceMs, () => {
        agent.killTree("SIGTERM");
        killLater();
      });
    },
    /** Forwards a signal. A grace period after SIGTERM, the agent gets SIGKILL. */
    forward: (signal: NodeJS.Signals) => {
      agent.kill(signal);
      if (signal === "SIGTERM") killLater();
    },
    /** Called when the agent has exited. */
    stop: () => {
      isLeaving = true;
      stop();
    },
  };
}

/** The maximum silence on an exited agent's stdout, in milliseconds. Then stdout is abandoned: a child of the agent may hold it open. */
const silence = 1_000;
/** The maximum silence on an exited agent's stdout after the editor has left, in milliseconds. */
const silenceWithoutEditor = 100;
/** The maximum total wait for an exited agent's output, in milliseconds, for any amount of output and any speed of the editor. */
const lastWordsLimit = 5_000;

/** Waits until the remaining output of an exited agent has reached the editor, within a time limit. */
async function passLastWords(
  relays: { readonly fromEditor: Relay; readonly fromAgent: Relay },
  output: Writable,
  clock: Clock,
  interrupted: Promise<void>,
): Promise<void> {
  const { fromEditor, fromAgent } = relays;
  const limit = createDeferred();
  const silent = createDeferred();
  const stopLimit = clock.after(lastWordsLimit, limit.resolve);
  const over = Promise.race([interrupted, limit.promise]);
  let wait = silence;
  let isStopped = false;
  let stopTimer = (): void => undefined;
  const listen = (): void => {
    stopTimer();
    if (isStopped) return;
    stopTimer = clock.after(wait, () => {
      if (fromAgent.isActive()) listen();
      else silent.resolve();
    });
  };
  listen();
  void fromEditor.ended.then(() => {
    wait = silenceWithoutEditor;
    listen();
  });
  await Promise.race([fromAgent.ended, silent.promise, over]);
  isStopped = true;
  stopTimer();
  await Promise.race([flush(output), over]);
  stopLimit();
}
