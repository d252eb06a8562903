import type * as Pino from "pino";
import type { Log } from "../base/log.ts";
import { healthPaths } from "./telemetry/health-routes.ts";
import { toLoggedPath, withoutSecrets } from "./telemetry/without-secrets.ts";

/** One request, when it has been answered. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** From the request line; logged without what may be secret in it. */
  readonly target: string;
  readonly status: number;
  readonly ms: number;
  /** The name of the caller. */
  readonly caller: string;
  /** It stays open for as long as the client likes, so that its time means nothing. */
  readonly isStream?: boolean;
}

/**
 * The log of the server, one JSON object a line. A line is built field by field from what is listed here, so that no header, body, token
 * or query can get into it. Never throws.
 */
export interface HttpLog {
  readonly log: Log;
  /** Failures and slow requests at level `info`, others at `debug` only. */
  readonly requestEnded: (record: RequestRecord) => void;
}

export interface HttpLogOptions {
  /** Default: info. */
  readonly level?: "debug" | "info" | "warning" | "error";
  /** Default: stderr, synchronously; that it was closed is ignored. */
  readonly destination?: { readonly write: (line: string) => void };
}

/** Loads pino. */
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
