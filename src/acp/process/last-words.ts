import type { Writable } from "node:stream";
import { createDeferred } from "../../base/deferred.ts";
import type { Clock } from "../../base/clock.ts";
import type { Relay } from "../bytes/relay-lines.ts";

/** How long the stdout of an exited agent may be silent before it is abandoned: a child of the agent may keep it open. */
const silence = 1_000;
/** The same after the editor has left. */
const silenceWithoutEditor = 100;
/** The total time limit, regardless of how much output remains and how fast the editor reads. */
const lastWordsLimit = 5_000;

export interface LastWords {
  readonly fromEditor: Relay;
  readonly fromAgent: Relay;
  readonly output: Writable;
  readonly clock: Clock;
  /** Resolves when this process gets a signal to exit. */
  readonly enough: Promise<void>;
}

/** After the agent has exited, waits until its remaining output has reached the editor, within a time limit. */
export async function passLastWords({ fromEditor, fromAgent, output, clock, enough }: LastWords): Promise<void> {
  const limit = createDeferred();
  const stopLimit = clock.after(lastWordsLimit, limit.resolve);
  const over = Promise.race([enough, limit.promise]);
  const quiet = waitForSilence(fromAgent, fromEditor, clock);
  await Promise.race([fromAgent.ended, quiet.reached, over]);
  quiet.stop();
  await Promise.race([flush(output), over]);
  stopLimit();
}

function waitForSilence(
  fromAgent: Relay,
  fromEditor: Relay,
  clock: Clock,
): { readonly reached: Promise<void>; readonly stop: () => void } {
  let wait = silence;
  let isStopped = false;
  let stopTimer = (): void => undefined;
  const { promise: reached, resolve: reach } = createDeferred();
  const listen = (): void => {
    stopTimer();
    if (isStopped) return;
    stopTimer = clock.after(wait, () => {
      if (fromAgent.isActive()) listen();
      else reach();
    });
  };
  listen();
  void fromEditor.ended.then(() => {
    wait = silenceWithoutEditor;
    listen();
  });
  return {
    reached,
    stop() {
      isStopped = true;
      stopTimer();
    },
  };
}

/** Waits until all written data has been flushed, or the output is closed. */
export async function flush(output: Writable): Promise<void> {
  if (output.destroyed || output.writableEnded) return;
  await new Promise<void>((resolve) => {
    output.write("", () => {
      resolve();
    });
  });
}
