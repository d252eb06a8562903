import { existsSync } from "node:fs";
import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { SkillsError } from "../errors.ts";
import { type Clock, systemClock } from "../clock.ts";
import { createDeferred } from "../promises.ts";
import type { Log } from "../log.ts";
import { packageUrl } from "../paths/location.ts";

/** A channel to another end, usually another thread. */
export interface Channel {
  /** The port keeps the process alive only while referenced. Transferred buffers are moved, not copied: they become unusable here. */
  readonly port: Pick<MessagePort, "postMessage" | "ref" | "unref">;
  /** Ends the other end immediately. */
  end(): void;
}

/** Opens a channel, which does not keep the process alive. `ended` is called with the reason when nothing more will arrive. */
export type OpenChannel<From> = (received: (message: From) => void, ended: (reason: string) => void) => Channel;

interface Served {
  /** The file that a worker starts with, by its path below `dist/`. */
  readonly module: string;
  readonly workerData: unknown;
  /** Does on this thread the work of the worker. */
  readonly serve: (port: MessagePort) => Promise<void>;
  readonly log: Log;
}

/** Opens a channel to a worker thread. If the worker file is missing, as in a bundle, logs that and runs everything on this thread. */
export function chooseChannel<From>({ module, workerData, serve, log }: Served): OpenChannel<From> {
  const entry = packageUrl(module);
  if (existsSync(entry)) return workerChannel(entry, workerData);
  // Only the built package has worker files; sources have none.
  if (!existsSync(packageUrl("index.ts")))
    log(
      "info",
      `Skills are read on the calling thread: dist/${module} of acp-skills was not found (is it bundled?). Keep acp-skills out of the bundle (external) to use a thread of its own.`,
    );
  return sameThreadChannel(serve);
}

/** The default of 48 MB is used up by one large change on disk, such as a checkout, and then never released. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Opens a channel to a new worker thread with this entry file and this `workerData`. */
export function workerChannel<From>(entry: URL, workerData: unknown): OpenChannel<From> {
  return (received, ended) => {
    // Output that it prints by mistake must not reach this process's stdout, which belongs to the protocol.
    const worker = new Worker(entry, { workerData, stdout: true, name: "acp-skills", resourceLimits });
    worker.on("error", (error: unknown) =>
      ended(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
    worker.on("exit", (code) => ended(`Its thread ended with code ${code}.`));
    worker.on("message", received).unref();
    return { port: worker, end: () => void worker.terminate() };
  };
}

/** Opens a channel to `serve`, which runs on this thread. */
export function sameThreadChannel<From>(serve: (port: MessagePort) => Promise<void>): OpenChannel<From> {
  return (received, ended) =>
    portChannel<From>((theirs) => {
      serve(theirs).then(
        () => theirs.unref(),
        (error: unknown) => ended(error instanceof Error ? error.message : String(error)),
      );
    })(received, ended);
}

/** Opens a channel, and passes its other end to `give`. */
export function portChannel<From>(give: (port: MessagePort) => void): OpenChannel<From> {
  return (received, ended) => {
    const { port1: ours, port2: theirs } = new MessageChannel();
    ours.on("close", () => ended("Its channel was closed."));
    give(theirs);
    ours.on("message", received).unref();
    return { port: ours, end: () => ours.close() };
  };
}

/** A message that a thread sends to its {@link ThreadClient} besides its own messages. */
export type ThreadReply =
  | { readonly kind: "answer"; readonly call: number; readonly value: unknown }
  | { readonly kind: "log"; readonly level: Parameters<Log>[0]; readonly message: string };

/** The maximum time in milliseconds that a thread may take to close before it is terminated. */
const closingMs = 5_000;

export interface ThreadClientOptions<From> {
  readonly openChannel: OpenChannel<From | ThreadReply>;
  readonly received: (message: From) => void;
  /** Called once, when nothing more will arrive; without a reason after `close`. */
  readonly ended: (reason: string | undefined) => void;
  readonly log: Log;
  readonly clock: Clock;
}

/** The near end of a channel to a thread. Every call is answered or rejected, whatever happens to the thread. */
export class ThreadClient<To extends { readonly kind: string }, From extends { readonly kind: string }> {
  readonly #options: ThreadClientOptions<From>;
  readonly #channel: Channel | undefined;
  readonly #waiting = new Map<number, PendingCall>();
  readonly #gone = createDeferred();
  #lastCall = 0;
  #endReason: string | undefined;
  #closing: Promise<void> | undefined;

  /** If no thread can be started, the client has already ended. */
  constructor(options: ThreadClientOptions<From>) {
    this.#options = options;
    const ended = (reason: string): void => this.#hasEnded(reason);
    try {
      this.#channel = options.openChannel((message) => this.#receive(message), ended);
    } catch (error) {
      ended(`No thread could be started: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  get isAlive(): boolean {
    return this.#endReason === undefined;
  }

  /** Posts a message; does nothing after the end. Throws if the message cannot be cloned. */
  post(message: To, transferred?: (ArrayBuffer | MessagePort)[]): void {
    if (this.isAlive) this.#channel?.port.postMessage(message, transferred ?? []);
  }

  /** Posts a call and waits for its answer, which keeps the process alive. Rejects with CLOSED if the thread ends first. */
  async call(toMessage: (call: number) => To): Promise<unknown> {
    if (this.#endReason !== undefined) throw closed(this.#endReason);
    const call = ++this.#lastCall;
    const answered = new Promise((resolve, reject) => this.#waiting.set(call, { resolve, reject }));
    this.#channel?.port.ref();
    try {
      this.post(toMessage(call));
      return await answered;
    } finally {
      this.#waiting.delete(call);
      if (this.#waiting.size === 0 && this.#closing === undefined) this.#channel?.port.unref();
    }
  }

  /** Rejects a call without waiting for its answer. */
  reject(call: number, reason: unknown): void {
    this.#waiting.get(call)?.reject(reason);
  }

  /** Asks the thread to close, and terminates it if it has not closed after 5 seconds. Idempotent; never rejects. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    if (!this.isAlive) return;
    const { clock } = this.#options;
    this.#channel?.port.ref();
    this.#channel?.port.postMessage({ kind: "close" });
    const stopTimer = clock.after(closingMs, () => this.#channel?.end());
    await this.#gone.promise;
    stopTimer();
  }

  #receive(message: From | ThreadReply): void {
    if (!isReply(message)) this.#options.received(message);
    else if (message.kind === "log") this.#options.log(message.level, message.message);
    else this.#waiting.get(message.call)?.resolve(message.value);
  }

  #hasEnded(reason: string): void {
    if (!this.isAlive) return;
    this.#endReason = reason;
    for (const { reject } of this.#waiting.values()) reject(closed(reason));
    this.#options.ended(this.#closing === undefined ? reason : undefined);
    this.#gone.resolve();
  }
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

function isReply(message: { readonly kind: string }): message is ThreadReply {
  return message.kind === "answer" || message.kind === "log";
}

function closed(reason: string): SkillsError {
  return new SkillsError("CLOSED", `The skills were closed. ${reason}`);
}

/** The start values of a worker thread. */
interface WorkerEnd {
  readonly port: MessagePort;
  readonly data: unknown;
  /** The settings that cannot be sent to a thread. */
  readonly local: { readonly clock: Clock; readonly log: Log };
}

/** Creates the end of a worker thread. Throws outside of a worker thread. */
export function createWorkerEnd(): WorkerEnd {
  const port = parentPort;
  if (port === null) throw new Error("This file is the entry of a worker thread; it cannot be imported.");
  // Deno's port cannot be closed; the thread ends when nothing waits for messages.
  if (!Reflect.has(port, "close")) Reflect.set(port, "close", () => port.unref());
  const log: Log = (level, message) => port.postMessage({ kind: "log", level, message } satisfies ThreadReply);
  return { port, data: workerData, local: { clock: systemClock, log } };
}
