import { parseBlobKind } from "../../blobs/blob-arguments.ts";
import { isSkillsError } from "../../errors.ts";
import type { RunHost } from "../../sandbox/sandbox.ts";
import { toMimeType } from "../../tools/answers/mime-type.ts";
import { keepBytes } from "./kept-bytes.ts";
import type { BlobBudget } from "../execute/blob-budget.ts";
import type { KeptBytes } from "./kept-bytes.ts";
import type { Mask } from "./mask.ts";
import { toPlainText } from "./plain-text.ts";
import { maxLogBytes } from "../plan/run-limits.ts";
import type { RunPlan } from "../plan/run-plan.ts";
import type { RunCaller } from "../runs.ts";
import { tellLines } from "./tell-lines.ts";

/** What a run printed and made, as it happened. */
export interface RunRecord {
  readonly host: RunHost;
  /** Everything printed, in the order in which it arrived; masked. Ends the recording. */
  readonly log: () => Promise<{ readonly text: string; readonly isCut: boolean }>;
  /** Of a script; masked. */
  readonly stream: (name: "stdout" | "stderr") => KeptBytes;
  /** Ids, in the order in which they were made. */
  readonly blobs: readonly string[];
  /** Paths are masked, of these and of those that were refused. */
  readonly files: readonly { readonly path: string; readonly blobId: string }[];
  /** Files that could not be kept, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

export interface RecordOptions {
  readonly plan: RunPlan;
  readonly caller: RunCaller;
  readonly mask: Mask;
  readonly callSkill: RunHost["callSkill"];
  readonly budget: BlobBudget;
}

/** What a script's streams may have before their middles are dropped. */
const maxStreamBytes = 8 * 1024 * 1024;

export function recordRun({ plan, caller, mask, callSkill, budget }: RecordOptions): RunRecord {
  const { owner, blobs: store, onPrint } = caller;
  const isScript = plan.program.type === "script";
  const printed = keepBytes(maxLogBytes);
  const kept = { stdout: keepBytes(maxStreamBytes), stderr: keepBytes(maxStreamBytes) };
  const masked = { stdout: mask.stream(), stderr: mask.stream() };
  const told = onPrint && tellLines((text) => onPrint(mask.text(text)));
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const blobs: string[] = [];
  const files: { path: string; blobId: string }[] = [];
  const refused: { path: string; why: string }[] = [];

  function take(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    printed.push(bytes);
    if (isScript) kept[stream].push(bytes);
    told?.push(toPlainText(decoders[stream].decode(bytes, { stream: true })));
  }

  async function keep(kind: string, content: AsyncIterable<Uint8Array>): Promise<string> {
    const { id } = await budget.keep(mask.iterable(content), (counted) => store.put(owner, kind, counted));
    blobs.push(id);
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
          // What the store says, whatever it is, is no reason to take the result away from a run that is over.
          if (!isSkillsError(error)) throw error;
          refused.push({ path: mask.plain(path), why: error.message });
        }
      },
    },
    async log() {
      take("stdout", masked.stdout.end());
      take("stderr", masked.stderr.end());
      told?.end();
      return { text: await mask.longPlain(printed.read()), isCut: printed.isCut };
    },
    stream: (name) => kept[name],
    blobs,
    files,
    refused,
  };
}
