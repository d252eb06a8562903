import type { Clock } from "../../../base/clock.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { SourceDenial, SourceReader } from "../../../sources/reader.ts";
import type { Source } from "../../../sources/source.ts";

/**
 * Reads sources for the page: at most 4 at once, each with at most 120 seconds and 64 MiB of skills. Rejects with RUNTIME_BUSY or
 * EXECUTION_TIMEOUT.
 */
export type LimitedRead = <Result>(
  asking: Asking,
  work: (reader: SourceReader, signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

interface Asking {
  /** Sources that the user named, which may be on this machine. */
  readonly typed: readonly Source[];
  readonly signal: AbortSignal;
}

const maxAtOnce = 4;
const maxMs = 120_000;
/** The maximum number of bytes of all skills that one request downloads. */
const downloadLimit = 64 * 1024 * 1024;

/** `denied`: the denials of the policies in force. */
export function createLimitedRead(clock: Clock, allowPrivate: readonly string[], denied: SourceDenial): LimitedRead {
  let busy = 0;
  return async ({ typed, signal: asked }, work) => {
    if (busy >= maxAtOnce)
      throw new SkillsError("RUNTIME_BUSY", `${maxAtOnce} sources are being read already; wait until one is done.`);
    busy += 1;
    const timeout = new AbortController();
    const stop = clock.after(maxMs, () => {
      timeout.abort(new SkillsError("EXECUTION_TIMEOUT", `The source was not read within ${maxMs / 1_000} seconds.`));
    });
    const signal = AbortSignal.any([asked, timeout.signal]);
    let reader: SourceReader | undefined;
    try {
      // The code that connects is loaded when something is read.
      const { openSourceReader } = await import("../../../sources/reader.ts");
      reader = openSourceReader({ allowPrivate, typed: typed.map(({ url }) => url), denied });
      return await work(limitBytes(reader), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      stop();
      busy -= 1;
      await reader?.close();
    }
  };
}

/** Refuses a skill with which the downloaded skills would exceed the limit. */
function limitBytes(reader: SourceReader): SourceReader {
  let left = downloadLimit;
  return {
    ...reader,
    async skillFiles(...given) {
      const files = left <= 0 ? [] : await reader.skillFiles(...given);
      left -= files.reduce((sum, { bytes }) => sum + bytes.length, 0);
      if (left > 0) return files;
      const most = `more than ${downloadLimit / 1024 / 1024} MiB would be downloaded at once`;
      throw new SkillsError("SOURCE_INVALID", `with it, ${most}; choose fewer skills`);
    },
  };
}
