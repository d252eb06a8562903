import type { Readable } from "node:stream";
import { limits } from "./transcript.ts";
import { createLineBlocks } from "../base/json/line-blocks.ts";

export interface LineListener {
  /** A line, without its line break; empty ones are left out. Must not throw. */
  line(text: string): void;
  /** Called once; with a reason if reading was stopped. */
  ended(reason?: string): void;
}

/** Reads lines of untrusted bytes, and stops at the first one that is too long. */
export function readLines(source: Readable, listener: LineListener, longest: number = limits.messageBytes): void {
  const blocks = createLineBlocks();
  let pending = 0;
  let hasEnded = false;
  const end = (reason?: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    source.off("data", onData);
    listener.ended(reason);
  };
  const pass = (block: Buffer): void => {
    for (const text of block.toString("utf8").split("\n")) if (text.trim() !== "" && !hasEnded) listener.line(text);
  };
  const onData = (chunk: Buffer): void => {
    const last = chunk.lastIndexOf(10);
    pending = last < 0 ? pending + chunk.length : chunk.length - last - 1;
    for (const block of blocks.push(chunk)) pass(block);
    if (pending <= longest || hasEnded) return;
    end(`a message was longer than ${longest} bytes`);
    source.resume();
  };
  const onEnd = (): void => {
    const rest = blocks.rest();
    if (rest !== undefined && !hasEnded) pass(rest);
    end();
  };
  source.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onEnd);
}
