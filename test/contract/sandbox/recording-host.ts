import type { Json, RunHost } from "../../../src/runtime/sandbox.ts";

/** Everything that a run requested from or passed to its host. */
export interface HostRecord {
  readonly stdout: string;
  readonly stderr: string;
  readonly printedBytes: number;
  readonly blobs: readonly { readonly kind: string; readonly content: Buffer }[];
  readonly calls: readonly { readonly name: string; readonly args: Json; readonly signal: AbortSignal }[];
  readonly outputs: ReadonlyMap<string, Buffer>;
  /** In order of occurrence. */
  readonly events: readonly string[];
}

export interface RecordingHost extends RunHost {
  readonly record: HostRecord;
}

/** More than any limit allows. */
const mostBytes = 128 * 1024 * 1024;

/** A host that records everything and returns `blob:made-<n>` for blobs; `answers` overrides its methods. */
export function recordingHost(answers: Partial<RunHost> = {}): RecordingHost {
  const printed: { stream: "stdout" | "stderr"; bytes: Buffer }[] = [];
  const blobs: { kind: string; content: Buffer }[] = [];
  const calls: { name: string; args: Json; signal: AbortSignal }[] = [];
  const outputs = new Map<string, Buffer>();
  const events: string[] = [];
  const textOf = (wanted: string): string =>
    Buffer.concat(printed.filter(({ stream }) => stream === wanted).map(({ bytes }) => bytes)).toString();
  let taken = 0;
  const take = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
    const parts: Uint8Array[] = [];
    for await (const part of content) {
      taken += part.length;
      if (taken > mostBytes) throw new Error(`The run handed over more than ${mostBytes} bytes.`);
      parts.push(Buffer.from(part));
    }
    return Buffer.concat(parts);
  };
  return {
    record: {
      blobs,
      calls,
      outputs,
      events,
      get stdout() {
        return textOf("stdout");
      },
      get stderr() {
        return textOf("stderr");
      },
      get printedBytes() {
        return printed.reduce((sum, { bytes }) => sum + bytes.length, 0);
      },
    },
    print(stream, bytes) {
      events.push(`print ${stream}`);
      printed.push({ stream, bytes: Buffer.from(bytes) });
      answers.print?.(stream, bytes);
    },
    ...(answers.fetch && { fetch: answers.fetch }),
    hide: answers.hide ?? ((text) => text),
    async createBlob(kind, content) {
      events.push(`createBlob ${kind}`);
      if (answers.createBlob) return answers.createBlob(kind, content);
      blobs.push({ kind, content: await take(content) });
      return `blob:made-${blobs.length}`;
    },
    async callSkill(name, args, signal) {
      events.push(`callSkill ${name}`);
      calls.push({ name, args, signal });
      if (answers.callSkill) return answers.callSkill(name, args, signal);
      return { name, args };
    },
    async output(path, size, content) {
      events.push(`output ${path}`);
      if (answers.output) return answers.output(path, size, content);
      const bytes = await take(content);
      if (bytes.length !== size) throw new Error(`${path} has ${bytes.length} bytes, not ${size}.`);
      if (outputs.has(path)) throw new Error(`${path} was handed over twice.`);
      outputs.set(path, bytes);
    },
  };
}
