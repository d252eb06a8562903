import type { Readable, Writable } from "node:stream";
import { type Clock, withinTime } from "../base/clock.ts";
import { createDeferred } from "../base/promises.ts";
import { fieldsOf } from "../client/json.ts";
import { type TranscriptEntry, createRecording } from "./transcript.ts";
import { readLines } from "./read-lines.ts";
import { answerClient, initialState } from "./play-agent/answer-client.ts";
import { scenario, type ScenarioStep } from "./play-agent/scenario.ts";

export interface PlayOptions {
  /** From the client. */
  readonly input: Readable;
  /** To the client; it is not ended. */
  readonly output: Writable;
  readonly clock: Clock;
  /** For each answer, in milliseconds. */
  readonly timeout: number;
  /** Called after each step, and at the end: clients may end their agents without warning. Must not throw. */
  readonly onProgress?: (played: PlayedClient) => void;
}

export interface PlayedClient {
  readonly entries: readonly TranscriptEntry[];
  /** The client survived each of these steps. */
  readonly survived: readonly string[];
  /** In sentences without full stop. */
  readonly faults: readonly string[];
  readonly notes: readonly string[];
  /** Where it ended; absent when all steps were taken. */
  readonly unfinished?: string;
}

/** Clients drop what arrives too soon after the response that created its session. */
const delay = 50;
/** Between steps, for clients that do not answer requests of extensions. */
const pause = 200;
const probe = "_acp-skills/conformance_probe";

/** Plays an agent until the client closes its stdin. Never rejects; stops reading a client that exceeds a limit. */
export async function playAgent({ input, output, clock, timeout, onProgress }: PlayOptions): Promise<PlayedClient> {
  const recorder = createRecording().open("client");
  const state = initialState();
  const open = new Map<unknown, (isAnswered: boolean) => void>();
  const gone = createDeferred<string>();
  let goneBecause: string | undefined;
  let probes = 0;
  let acting: Promise<void> | undefined;
  const survived: string[] = [];
  const faults: string[] = [];
  const notes: string[] = [];
  let unfinished: string | undefined = "the client left before the first step";
  const played = (): PlayedClient => ({
    entries: recorder.entries,
    survived,
    faults,
    notes,
    ...(unfinished !== undefined && { unfinished }),
  });

  function send(message: object | string): void {
    const written = typeof message === "string" ? message : JSON.stringify(message);
    recorder.add("agent", written);
    if (!output.destroyed && !output.writableEnded) output.write(`${written}\n`);
  }
  function leave(reason: string): void {
    if (goneBecause !== undefined) return;
    goneBecause = reason;
    for (const resolve of open.values()) resolve(false);
    gone.resolve(reason);
  }
  function receive(message: unknown): void {
    const { id, method, params } = fieldsOf(message) ?? {};
    if (typeof method !== "string") {
      open.get(id)?.(true);
      open.delete(id);
      return;
    }
    if (id === undefined) return;
    const { reply, messages, opened } = answerClient(method, params, state);
    const response = { jsonrpc: "2.0", id, ...reply };
    for (const one of state.protocol === 2 ? [response, ...messages] : [...messages, response]) send(one);
    if (opened !== undefined) acting ??= act(opened);
  }
  /** Whether the client answers a request within the time limit. */
  async function answers(step: string): Promise<boolean> {
    const id = `acp-skills:${++probes}`;
    const { promise, resolve } = createDeferred<boolean>();
    open.set(id, resolve);
    send({ jsonrpc: "2.0", id, method: probe, params: { after: step } });
    const isAnswered = await withinTime(promise, clock, timeout);
    open.delete(id);
    return isAnswered === true;
  }
  async function wait(ms: number): Promise<void> {
    await withinTime(gone.promise, clock, ms);
  }
  async function act(sessionId: string): Promise<void> {
    await wait(delay);
    const isAnswering = await answers("session/new");
    if (!isAnswering && goneBecause === undefined)
      faults.push("the client does not answer a request of an extension; from here only its end is noticed");
    for (const step of scenario({ sessionId, protocol: state.protocol, forms: state.forms })) {
      if (goneBecause !== undefined) break;
      unfinished = `it ended before ${step.name}`;
      await take(step, isAnswering);
      onProgress?.(played());
    }
    if (goneBecause === undefined) unfinished = undefined;
  }
  async function take({ name, messages }: ScenarioStep, isAnswering: boolean): Promise<void> {
    for (const message of messages) send(message);
    const isWell = isAnswering ? await answers(name) : (await wait(pause), goneBecause === undefined);
    if (isWell) survived.push(name);
    else if (goneBecause === undefined) faults.push(`after ${name}, the client did not answer a request`);
    else unfinished = `after ${name}, ${goneBecause}`;
  }

  output.on("error", () => {
    leave("the client closed our stdout");
  });
  readLines(input, {
    line(written) {
      const fault = recorder.add("client", written);
      if (fault !== undefined) {
        faults.push(fault);
        leave(fault);
        return;
      }
      const { message } = recorder.last() ?? {};
      for (const one of Array.isArray(message) ? (message as unknown[]) : [message]) receive(one);
    },
    ended(reason) {
      if (reason !== undefined) faults.push(reason);
      leave("the client closed our stdin");
    },
  });
  await gone.promise;
  await acting;
  if (acting === undefined) faults.push("the client opened no session");
  onProgress?.(played());
  return played();
}
