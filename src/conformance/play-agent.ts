import type { Readable, Writable } from "node:stream";
import { type Clock, withinTime } from "../base/clock.ts";
import { type TranscriptEntry, createRecording } from "./transcript.ts";
import { readExchange } from "./exchange.ts";
import { connectPeer } from "./peer.ts";
import { answerClient, PlayedState } from "./play-agent/answer-client.ts";
import { scenario, type ScenarioStep } from "./play-agent/scenario.ts";

export interface PlayOptions {
  /** The stream from the client. */
  readonly input: Readable;
  /** The stream to the client, which is not ended. */
  readonly output: Writable;
  readonly clock: Clock;
  /** The maximum wait for each answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Called after each step, and at the end: clients may end their agents without warning. Must not throw. */
  readonly onProgress?: (played: PlayedClient) => void;
}

export interface PlayedClient {
  readonly entries: readonly TranscriptEntry[];
  /** The names of the steps that the client survived. */
  readonly survived: readonly string[];
  /** Sentences without full stop. */
  readonly faults: readonly string[];
  readonly notes: readonly string[];
  /** Why the scenario ended early; absent if all steps were taken. */
  readonly unfinished?: string | undefined;
}

/** The delay before the first step: clients drop messages that come too soon after the response that created their session. */
const delayMs = 50;
/** The pause between steps, for clients that do not answer requests of extensions. */
const pauseMs = 200;
const probe = "_acp-skills/conformance_probe";

/** Plays an agent until the client closes its stdin. Never rejects; stops reading a client that exceeds a limit. */
export async function playAgent({ input, output, clock, timeoutMs, onProgress }: PlayOptions): Promise<PlayedClient> {
  const recorder = createRecording().open("client");
  const state = new PlayedState();
  let acting: Promise<void> | undefined;
  const survived: string[] = [];
  const faults: string[] = [];
  const notes: string[] = [];
  let unfinished: string | undefined = "the client left before the first step";
  const played = (): PlayedClient => ({ entries: recorder.entries, survived, faults, notes, unfinished });
  const peer = connectPeer({
    side: "client",
    ...{ input, output, recorder, clock },
    toId: (n) => `acp-skills:${n}`,
    requested(id, method, params) {
      const {
        reply,
        messages = [],
        opened,
      } = answerClient(method, params, state, () => readExchange(recorder.entries));
      const response = { jsonrpc: "2.0", id, ...reply };
      for (const one of state.protocol === 2 ? [response, ...messages] : [...messages, response]) peer.send(one);
      if (opened !== undefined) acting ??= act(opened);
    },
    refused: (reason) => void faults.push(reason),
  });

  async function answers(step: string): Promise<boolean> {
    return !("failed" in (await peer.request(probe, { after: step }, timeoutMs)));
  }
  async function act(sessionId: string): Promise<void> {
    await withinTime(peer.gone, clock, delayMs);
    const isAnswering = await answers("session/new");
    if (!isAnswering && peer.goneBecause === undefined)
      faults.push("the client does not answer a request of an extension; from here only its end is noticed");
    for (const step of scenario(sessionId, state)) {
      if (peer.goneBecause !== undefined) break;
      unfinished = `it ended before ${step.name}`;
      await take(step, isAnswering);
      onProgress?.(played());
    }
    if (peer.goneBecause === undefined) unfinished = undefined;
  }
  async function take({ name, messages }: ScenarioStep, isAnswering: boolean): Promise<void> {
    for (const message of messages) peer.send(message);
    if (!isAnswering) await withinTime(peer.gone, clock, pauseMs);
    const isWell = isAnswering ? await answers(name) : peer.goneBecause === undefined;
    if (isWell) survived.push(name);
    else if (peer.goneBecause === undefined) faults.push(`after ${name}, the client did not answer a request`);
    else unfinished = `after ${name}, ${peer.goneBecause}`;
  }

  output.on("error", () => peer.leave("the client closed our stdout"));
  await peer.gone;
  await acting;
  if (acting === undefined) faults.push("the client opened no session");
  onProgress?.(played());
  return played();
}
