import type { Clock } from "../../../src/base/clock.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import { closableSandbox } from "../../../src/runtime/sandbox/drive/sandbox-life.ts";
import type {
  Json,
  RunEnd,
  RunHost,
  Sandbox,
  SandboxRun,
  SecretAnswer,
  SecretRequest,
} from "../../../src/runtime/sandbox.ts";

/** What a scripted program can do during a run. */
export interface MemoryStage {
  readonly run: SandboxRun;
  /** Aborted when the run is over, for any reason. Afterwards the script has no effect. */
  readonly over: AbortSignal;
  readonly print: (text: string | Uint8Array, stream?: "stdout" | "stderr") => void;
  readonly createBlob: (kind: string, content: string | Uint8Array) => Promise<string>;
  readonly callSkill: (name: string, args: Json) => Promise<Json>;
  /** Absent where the run may send no secret. */
  readonly fetch: ((request: SecretRequest) => Promise<SecretAnswer>) | undefined;
  /** Writes a file to `/output`. */
  readonly leave: (path: string, content: string | Uint8Array) => void;
  /** Never resolves: a program that does not end. */
  readonly forever: () => Promise<never>;
}

/** A scripted program. What it throws ends the run as `crashed`. */
export type MemoryScript = (stage: MemoryStage) => RunEnd | Promise<RunEnd>;

/**
 * A tier for tests of the code above the port: no processes, no files, no isolation. Time is that of `clock`.
 */
export function memorySandbox(
  script: MemoryScript,
  options: { clock: Clock; tier?: "memory" | "none" } & Partial<Pick<Sandbox, "refuses" | "lacks" | "remedy">>,
): Sandbox {
  const { clock, refuses = () => undefined, lacks = {}, tier = "memory", remedy } = options;

  async function perform(run: SandboxRun, host: RunHost, signal: AbortSignal): Promise<RunEnd> {
    for (const file of run.skills.flatMap(({ files }) => files)) await weigh(file.path, file.size, file.read());
    for (const blob of run.blobs) await weigh(blob.id, blob.size, blob.read());
    return play(script, run, host, signal, clock);
  }

  const sandbox = closableSandbox({ tier, lacks, refuses, run: perform, close: () => Promise.resolve() });
  return remedy === undefined ? sandbox : { ...sandbox, remedy };
}

async function play(
  script: MemoryScript,
  run: SandboxRun,
  host: RunHost,
  cancelled: AbortSignal,
  clock: Clock,
): Promise<RunEnd> {
  if (cancelled.aborted) return { type: "cancelled" };
  const over = new AbortController();
  const left = new Map<string, Uint8Array>();
  let printed = 0;
  let end: (end: RunEnd) => void = () => undefined;
  const ended = new Promise<RunEnd>((resolve) => {
    end = (value) => {
      over.abort();
      resolve(value);
    };
  });
  const stopTimer = clock.after(run.limits.timeoutMs, () => end({ type: "limit", limit: "timeout" }));
  const cancel = (): void => end({ type: "cancelled" });
  cancelled.addEventListener("abort", cancel, { once: true });

  const stage: MemoryStage = {
    run,
    over: over.signal,
    print(text, stream = "stdout") {
      if (over.signal.aborted) return;
      const bytes = toBytes(text);
      const allowed = bytes.subarray(0, run.limits.printedBytes - printed);
      if (allowed.length > 0) host.print(stream, allowed);
      printed += bytes.length;
      if (printed > run.limits.printedBytes) end({ type: "limit", limit: "output" });
    },
    createBlob: (kind, content) => whileRunning(over.signal, () => host.createBlob(kind, once(toBytes(content)))),
    callSkill: (name, args) => whileRunning(over.signal, () => host.callSkill(name, args, over.signal)),
    fetch: host.fetch && ((request) => whileRunning(over.signal, () => host.fetch!(request, over.signal))),
    leave(path, content) {
      if (!over.signal.aborted) left.set(path, toBytes(content));
    },
    forever: () => new Promise(() => undefined),
  };
  try {
    void Promise.resolve(stage)
      .then(script)
      .then(end, (error: unknown) => end({ type: "crashed", detail: String(error) }));
    const result = await ended;
    for (const [path, bytes] of left) await host.output(path, bytes.length, once(bytes));
    return result;
  } finally {
    over.abort();
    stopTimer();
    cancelled.removeEventListener("abort", cancel);
  }
}

/** Calls of a run that is over are not made; a pending call is never answered. */
async function whileRunning<T>(over: AbortSignal, call: () => Promise<T>): Promise<T> {
  const isOver = (): boolean => over.aborted;
  const never = new Promise<never>(() => undefined);
  if (isOver()) return never;
  try {
    return await call();
  } finally {
    if (isOver()) await never;
  }
}

async function weigh(what: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
  let weight = 0;
  for await (const bytes of content) weight += bytes.length;
  if (weight === size) return;
  throw new SkillsError("SANDBOX_UNAVAILABLE", `${what} has ${weight} bytes instead of ${size}.`);
}

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
