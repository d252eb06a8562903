import type { Writable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import type { Relay } from "../bytes/relay-lines.ts";

/** How long an ended agent's stdout may be silent before it is let go: a child of the agent may hold it open for ever. */
const silence = 1_000;
/** The same once the editor is gone too: what was in the pipe has come by then. */
const silenceWithoutEditor = 100;
/** However much is still said, and however slowly the editor reads, nobody waits longer for the end. */
const lastWordsLimit = 5_000;

export interface LastWords {
  readonly fromEditor: Relay;
  readonly fromAgent: Relay;
  readonly output: Writable;
  readonly clock: Clock;
  /** Resolves when we are told to go. */
  readonly enough: Promise<void>;
}

/** Waits, when the agent has ended, until its last words have reached the editor; never for long. */
export async function passLastWords({ fromEditor, fromAgent, output, clock, enough }: LastWords): Promise<void> {
  let stopLimit = (): void => undefined;
  const limit = new Promise<void>((resolve) => {
    stopLimit = clock.after(lastWordsLimit, resolve);
  });
  const over = Promise.race([enough, limit]);
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
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
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

/** Waits until what was written has left this process, or nobody takes it any more. */
export async function flush(output: Writable): Promise<void> {
  if (output.destroyed || output.writableEnded) return;
  await new Promise<void>((resolve) => {
    output.write("", () => {
      resolve();
    });
  });
}
