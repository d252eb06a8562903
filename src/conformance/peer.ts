import type { Readable, Writable } from "node:stream";
import { type Clock, withinTime } from "../base/clock.ts";
import { LineBlocks } from "../base/json/line-blocks.ts";
import { createDeferred } from "../base/promises.ts";
import { fieldsOf } from "../client/json.ts";
import { type Recorder, type Side, limits, otherSide } from "./transcript.ts";

/** The end of a request: a result, an error, or the reason why there is neither. */
export type PeerResponse = { readonly result: unknown } | { readonly error: unknown } | { readonly failed: string };

/** The other end of a recorded connection. Everything that the peer sends is recorded, and never causes a throw. */
export interface Peer {
  /** Why nothing more arrives; undefined as long as something may. */
  readonly goneBecause: string | undefined;
  /** Resolves when nothing more arrives. */
  readonly gone: Promise<void>;
  /** Writes a message; a text is written unchanged. */
  send(message: object | string): void;
  request(method: string, params: object, ms: number): Promise<PeerResponse>;
  /** Treats the peer as gone. Only the first reason counts. */
  leave(reason: string): void;
}

export interface PeerOptions {
  readonly side: Side;
  readonly input: Readable;
  readonly output: Writable;
  readonly recorder: Recorder;
  readonly clock: Clock;
  /** The id of the n-th request to the peer. */
  readonly toId: (n: number) => unknown;
  /** Called with each request of the peer, which it may answer. */
  readonly requested: (id: unknown, method: string, params: unknown) => void;
  /** Called after each message, and when the peer is gone. */
  readonly changed?: () => void;
  /** Called with the limit that the peer exceeds, after which its messages are no longer read. */
  readonly refused?: (reason: string) => void;
}

/** Reads a peer, line by line, until its stream ends or it exceeds a limit. No callback may throw. */
export function connectPeer(options: PeerOptions): Peer {
  const { side, input, output, recorder, clock, toId, requested, changed, refused } = options;
  const open = new Map<unknown, (answer: PeerResponse) => void>();
  const { promise: gone, resolve: resolveGone } = createDeferred();
  const blocks = new LineBlocks();
  let lastId = 0;
  let isReading = true;
  let goneBecause: string | undefined;

  function leave(reason: string): void {
    if (goneBecause !== undefined) return;
    goneBecause = reason;
    for (const respond of open.values()) respond({ failed: reason });
    open.clear();
    resolveGone();
    changed?.();
  }
  function send(message: object | string): void {
    const written = typeof message === "string" ? message : JSON.stringify(message);
    recorder.add(otherSide(side), written);
    if (!output.destroyed && !output.writableEnded) output.write(`${written}\n`);
  }
  function receive(message: unknown): void {
    const { id, method, params, result, error } = fieldsOf(message) ?? {};
    if (typeof method === "string") {
      if (id !== undefined) requested(id, method, params);
      return;
    }
    open.get(id)?.(error === undefined ? { result } : { error });
    open.delete(id);
  }
  function refuse(reason: string): void {
    isReading = false;
    refused?.(reason);
    leave(reason);
  }
  function pass(block: Buffer): void {
    for (const written of block.toString("utf8").split("\n")) {
      if (written.trim() === "" || !isReading) continue;
      const fault = recorder.add(side, written);
      if (fault !== undefined) refuse(fault);
      else {
        const { message } = recorder.entries.at(-1) ?? {};
        for (const one of Array.isArray(message) ? (message as unknown[]) : [message]) receive(one);
        changed?.();
      }
    }
  }
  function read(chunk: Buffer): void {
    // Bytes after a refusal are read and dropped, so that the peer is not blocked.
    if (!isReading) return;
    for (const block of blocks.push(chunk)) pass(block);
    if (blocks.pending > limits.messageBytes) refuse(`a message was longer than ${limits.messageBytes} bytes`);
  }
  function end(): void {
    const rest = blocks.rest();
    if (rest !== undefined) pass(rest);
    leave(side === "agent" ? "the agent closed its stdout" : "the client closed our stdin");
  }

  input.on("data", read).on("end", end).on("close", end).on("error", end);
  return {
    get goneBecause() {
      return goneBecause;
    },
    gone,
    send,
    leave,
    async request(method, params, ms) {
      if (goneBecause !== undefined) return { failed: goneBecause };
      const id = toId(++lastId);
      const { promise, resolve } = createDeferred<PeerResponse>();
      open.set(id, resolve);
      send({ jsonrpc: "2.0", id, method, params });
      const answer = await withinTime(promise, clock, ms);
      open.delete(id);
      return answer ?? { failed: `it was not answered within ${Math.round(ms / 1_000)} s` };
    },
  };
}
