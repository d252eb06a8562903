import { randomBytes } from "node:crypto";
import type * as Pino from "pino";
import { attempt } from "../base/failures/system-error.ts";
import type { Log } from "../base/log.ts";

/** A request that has been answered. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** The target in the request line; logged without possible secrets. */
  readonly target: string;
  readonly status: number;
  readonly ms: number;
  /** The name of the caller. */
  readonly caller: string;
  /** Whether the request is a stream, which is open as long as the client likes: its duration means nothing. */
  readonly isStream?: boolean;
}

/**
 * The log of the server, one JSON object a line. Each line is built from the fields listed here, so that no header, body, token or query
 * can get into it. Never throws.
 */
export interface HttpLog {
  readonly log: Log;
  /** Logs failures and slow requests at level `info`, others only at `debug`. */
  readonly requestEnded: (record: RequestRecord) => void;
}

export interface HttpLogOptions {
  /** The lowest level that is logged. Default: info. */
  readonly level?: "debug" | "info" | "warning" | "error";
  /** The destination of log lines. Default: stderr, written synchronously; a closed stderr is ignored. */
  readonly destination?: { readonly write: (line: string) => void };
}

/** The paths that everybody may request, because probes have no credentials. */
export const healthPaths: readonly string[] = ["/healthz", "/readyz"];

/** Creates the log; loads pino. */
export async function createHttpLog({ level = "info", destination }: HttpLogOptions = {}): Promise<HttpLog> {
  const { pino } = await import("pino");
  const logger = pino(
    {
      base: null,
      level: pinoLevels[level],
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? toStderr(pino),
  );

  return {
    log(given, message) {
      logger[pinoLevels[given]](withoutSecrets(message));
    },
    requestEnded({ requestId, method, target, status, ms, caller, isStream = false }) {
      const isNotReady = status === 503 && healthPaths.includes(target);
      const at = isNotReady ? "debug" : levelOf(status, isStream ? 0 : ms);
      if (!logger.isLevelEnabled(at)) return;
      const path = toLoggedPath(target);
      logger[at]({ request_id: requestId, caller, method, path, status, ms: Math.round(ms * 10) / 10 }, "request");
    },
  };
}

const pinoLevels = { debug: "debug", info: "info", warning: "warn", error: "error" } as const;
const slowMs = 1_000;

function levelOf(status: number, ms: number): "error" | "info" | "debug" {
  if (status >= 500) return "error";
  return ms > slowMs ? "info" : "debug";
}

function toStderr({ destination }: typeof Pino.pino): { readonly write: (line: string) => void } {
  const stderr = destination({ dest: 2, sync: true });
  stderr.on("error", () => undefined);
  return { write: (line) => void stderr.write(line) };
}

/**
 * Creates ids by which a request is found in the log. The id of the client is used if it is usable and not its token. Otherwise the id is
 * new: unique in this process and unlikely in any other.
 */
export function createRequestIds(
  start = randomBytes(6).toString("hex"),
): (given: string | readonly string[] | undefined, authorization: string | undefined) => string {
  let count = 0;
  return (given, authorization) => {
    const isUsable =
      typeof given === "string" && /^[\w-]{1,64}$/.test(given) && authorization?.includes(given) !== true;
    return isUsable ? given : `${start}-${++count}`;
  };
}

/** Removes possible secrets from a text for the log: credentials, values of queries, paths of shares (`/s/<token>/`). */
function withoutSecrets(text: string): string {
  return text
    .replace(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .replace(/(\/s\/)[^/\s?#"']+/gi, "$1-")
    .replace(/\b(bearer|basic) +[^\s,"']+/gi, "$1 -")
    .replace(/(authorization["']?[:=]["' ]?)[^\s,"']+/gi, "$1-")
    .replace(/([?&][^=&\s#"']{0,64}=)[^&\s#"']+/g, "$1-")
    .replace(/(:\/\/)[^/\s@"']{1,256}@/g, "$1-@");
}

/** Characters that JSON does not escape, although a terminal does not show them as they are. */
const unsafe = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const maxPathLength = 256;
/** The form of names, which are words. Tokens are long without a break, of both cases, or hexadecimal. */
const words = /^\.?[a-z0-9]{1,24}(?:[._-][a-z0-9]{1,24}){0,16}$/i;
const longHexadecimal = /^[0-9a-f-]{21,}$/;

/** Returns the path of a request line for the log: without query, and with `-` for every segment that may be a token. Never throws. */
export function toLoggedPath(target: string): string {
  const path = /^[^?#]*/.exec(target.slice(0, maxPathLength))?.[0] ?? "";
  // If the path is not percent-encoded correctly, its segments do not look like names.
  const segments = attempt(() => decodeURIComponent(path), path).split("/");
  return segments.map((segment, index) => (isPlain(segment, segments[index - 1]) ? segment : "-")).join("/");
}

function isPlain(segment: string, before: string | undefined): boolean {
  if (segment === "" || before?.toLowerCase() === "s") return segment === "";
  return words.test(segment) && !longHexadecimal.test(segment) && (segment.length <= 20 || !/[A-Z]/.test(segment));
}
