import { parseBlobKind } from "../../blobs/blob-arguments.ts";
import { isSkillsError } from "../../errors.ts";
import type { RunHost } from "../../sandbox/sandbox.ts";
import { toMimeType } from "../../skills/files/mime-type.ts";
import { maxLogBytes } from "../plan/run-limits.ts";
import type { RunCaller } from "../run-caller.ts";
import type { RunStep } from "../run-event.ts";
import type { BlobBudget } from "./blob-budget.ts";
import type { Mask } from "./mask.ts";
import { toPlainText } from "./plain-text.ts";
import { keepBytes, tellLines } from "./printed.ts";
import type { KeptBytes } from "./printed.ts";

/** What a run printed and made, as it happened. */
export interface RunRecord {
  readonly host: RunHost;
  /** Everything printed, in order of arrival; masked. Ends the recording. */
  readonly log: () => Promise<{ readonly text: string; readonly isCut: boolean }>;
  /** Of a script; masked. */
  readonly stream: (name: "stdout" | "stderr") => KeptBytes;
  /** Ids, in order of creation. */
  readonly blobs: readonly string[];
  /** Output files that were stored. Their paths are masked, and so are those of `refused`. */
  readonly files: readonly { readonly path: string; readonly blobId: string }[];
  /** Output files that could not be stored, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

export interface RecordOptions {
  readonly isScript: boolean;
  readonly caller: Pick<RunCaller, "owner" | "blobs">;
  readonly mask: Mask;
  readonly callSkill: RunHost["callSkill"];
  readonly budget: BlobBudget;
  readonly tell: (step: RunStep) => void;
}

/** Of each of a script's streams; of a longer one the middle is dropped. */
const maxStreamBytes = 8 * 1024 * 1024;

export function recordRun({ isScript, caller, mask, callSkill, budget, tell }: RecordOptions): RunRecord {
  const { owner, blobs: store } = caller;
  const printed = keepBytes(maxLogBytes);
  const kept = { stdout: keepBytes(maxStreamBytes), stderr: keepBytes(maxStreamBytes) };
  const masked = { stdout: mask.stream(), stderr: mask.stream() };
  const told = tellLines((text) => tell({ type: "printed", text: mask.text(text) }));
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const blobs: string[] = [];
  const files: { path: string; blobId: string }[] = [];
  const refused: { path: string; why: string }[] = [];

  function take(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    printed.push(bytes);
    if (isScript) kept[stream].push(bytes);
    told.push(toPlainText(decoders[stream].decode(bytes, { stream: true })));
  }

  async function keep(kind: string, content: AsyncIterable<Uint8Array>): Promise<string> {
    const { id, size } = await budget.keep(mask.iterable(content), (counted) => store.put(owner, kind, counted));
    blobs.push(id);
    tell({ type: "blob_kept", blobId: id, kind, sizeBytes: size });
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
      async output(path, _size, content) {
        try {
          files.push({ path: mask.plain(path), blobId: await keep(toMimeType(path), content) });
        } catch (error) {
          // A refusal by the store must not take the result away from a run that has ended.
          if (!isSkillsError(error)) throw error;
          refused.push({ path: mask.plain(path), why: error.message });
        }
      },
    },
    async log() {
      take("stdout", masked.stdout.end());
      take("stderr", masked.stderr.end());
      told.end();
      return { text: await mask.longPlain(printed.read()), isCut: printed.isCut };
    },
    stream: (name) => kept[name],
    blobs,
    files,
    refused,
  };
}
