import type { StoredBlob } from "../blobs.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { RunHost } from "../sandbox.ts";
import { toMimeType } from "../../skills/files.ts";
import { maxLogBytes } from "./run-limits.ts";
import type { RunStep } from "../../wire/run-event.ts";
import { BoundedBytes, createLineBatcher, toPlainText } from "./record/run-text.ts";
import { parseBlobKind, quotaExceeded } from "../blobs/blob-rules.ts";

import type { RunFacts } from "./record/to-run-result.ts";

export { writeWholeResult } from "./record/to-run-result.ts";

/**
 * How much one run may store as blobs, together with the skills that it calls: passes the content on to `put`, counted. Throws
 * QUOTA_EXCEEDED beyond the budget; content that was not stored does not count.
 */
export type BlobBudget = (
  content: AsyncIterable<Uint8Array>,
  put: (content: AsyncIterable<Uint8Array>) => Promise<StoredBlob>,
) => Promise<StoredBlob>;

export function createBlobBudget(limits: { readonly maxBytes: number; readonly maxBlobs: number }): BlobBudget {
  const { maxBytes, maxBlobs } = limits;
  let bytes = 0;
  let blobs = 0;
  return async (content, put) => {
    if (blobs >= maxBlobs) throw quotaExceeded("run", limits);
    blobs += 1;
    let counted = 0;
    async function* count(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        counted += chunk.length;
        bytes += chunk.length;
        if (bytes > maxBytes) throw quotaExceeded("run", limits);
        yield chunk;
      }
    }
    try {
      return await put(count());
    } catch (error) {
      blobs -= 1;
      bytes -= counted;
      throw error;
    }
  };
}

/** What a run printed and made, as it happened. */
export interface RunRecord {
  readonly host: RunHost;
  /** Everything printed, in order of arrival; masked. Ends the recording. */
  readonly log: () => Promise<{ readonly text: string; readonly isCut: boolean }>;
  /** What a script printed; masked. */
  readonly stream: (name: "stdout" | "stderr") => BoundedBytes;
  /** Ids, in order of creation. */
  readonly blobs: readonly string[];
  /** Output files that were stored. Their paths are masked, and so are those of `refused`. */
  readonly files: readonly { readonly path: string; readonly blobId: string }[];
  /** Output files that could not be stored, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

/** How much of each of a script's streams is recorded; of a longer one the middle is dropped. */
const maxStreamBytes = 8 * 1024 * 1024;

export function recordRun(
  options: Pick<RunFacts, "spec" | "caller" | "mask"> & {
    readonly callSkill: RunHost["callSkill"];
    readonly budget: BlobBudget;
    readonly notify: (step: RunStep) => void;
  },
): RunRecord {
  const { spec, caller, mask, callSkill, budget, notify } = options;
  const { owner, blobs: store } = caller;
  const printed = new BoundedBytes(maxLogBytes);
  const scriptStreams = { stdout: new BoundedBytes(maxStreamBytes), stderr: new BoundedBytes(maxStreamBytes) };
  const masked = { stdout: mask.stream(), stderr: mask.stream() };
  const batcher = createLineBatcher((text) => notify({ type: "printed", text: mask.text(text) }));
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const blobs: string[] = [];
  const files: { path: string; blobId: string }[] = [];
  const refused: { path: string; why: string }[] = [];

  function take(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    printed.push(bytes);
    if (spec.program.type === "script") scriptStreams[stream].push(bytes);
    batcher.push(toPlainText(decoders[stream].decode(bytes, { stream: true })));
  }

  async function keep(kind: string, content: AsyncIterable<Uint8Array>, path?: string): Promise<string> {
    const { id, size } = await budget(mask.iterable(content), (counted) => store.put(owner, kind, counted));
    blobs.push(id);
    notify({ type: "blob_kept", blobId: id, kind, sizeBytes: size, ...(path !== undefined && { path }) });
    return id;
  }

  return {
    host: {
      print: (stream, bytes) => take(stream, masked[stream].push(bytes)),
      hide: mask.text,
      async createBlob(kind, content) {
        const parsed = parseBlobKind(mask.text(kind));
        return await keep(parsed?.base64 === false ? parsed.kind : "application/octet-stream", content);
      },
      callSkill,
      async output(file, _size, content) {
        const path = mask.plain(file);
        try {
          files.push({ path, blobId: await keep(toMimeType(file), content, path) });
        } catch (error) {
          // A refusal by the store must not take the result away from a run that has ended.
          if (!isSkillsError(error)) throw error;
          refused.push({ path, why: error.message });
        }
      },
    },
    async log() {
      take("stdout", masked.stdout.end());
      take("stderr", masked.stderr.end());
      batcher.end();
      return { text: await mask.longPlain(printed.read()), isCut: printed.isCut };
    },
    stream: (name) => scriptStreams[name],
    blobs,
    files,
    refused,
  };
}
