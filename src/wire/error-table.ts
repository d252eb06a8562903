import { type SkillsErrorCode, isSkillsError } from "../base/errors.ts";
import type { Violation } from "../base/failures/invalid-input.ts";
import { type InternalErrorOptions, toInternalError } from "../base/failures/internal-error.ts";

/** The error object of a JSON-RPC response, the same over every protocol. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: {
    readonly code: SkillsErrorCode;
    readonly hint?: string;
    readonly available?: readonly string[];
    readonly violations?: readonly Violation[];
    /** With QUOTA_EXCEEDED: the limit that was reached. `disk` means that nothing can be written, for any reason. */
    readonly limit?: string;
    /** With INTERNAL: the id to search for in the log. */
    readonly error_id?: string;
    /** Whether the same call may succeed later. */
    readonly retryable: boolean;
  };
}

/** The number of each code, and whether to retry. A code that is not listed is an internal error: the caller gets only its id. */
const table: Partial<Record<SkillsErrorCode, { readonly number: number; readonly retryable?: true }>> = {
  PARSE_ERROR: { number: -32700 },
  INVALID_REQUEST: { number: -32600 },
  METHOD_NOT_FOUND: { number: -32601 },
  VALIDATION_ERROR: { number: -32602 },
  SKILL_NOT_FOUND: { number: -32602 },
  VERSION_NOT_FOUND: { number: -32602 },
  FILE_NOT_FOUND: { number: -32602 },
  BLOB_NOT_FOUND: { number: -32602 },
  INVALID_PATH: { number: -32602 },
  INVALID_CURSOR: { number: -32602 },
  NOT_EXECUTABLE: { number: -32602 },
  UNSUPPORTED_LANGUAGE: { number: -32602 },
  FILE_TOO_LARGE: { number: -32602 },
  BLOB_TOO_LARGE: { number: -32602 },
  QUOTA_EXCEEDED: { number: -32602, retryable: true },
  AUTH_REQUIRED: { number: -32001 },
  PERMISSION_DENIED: { number: -32001 },
  RUNTIME_BUSY: { number: -32000, retryable: true },
  SANDBOX_UNAVAILABLE: { number: -32000 },
  SECRET_MISSING: { number: -32000 },
  SKILL_NOT_READY: { number: -32000, retryable: true },
  RATE_LIMITED: { number: -32000, retryable: true },
  ENDPOINT_UNREACHABLE: { number: -32000, retryable: true },
  EXECUTION_TIMEOUT: { number: -32000, retryable: true },
  VERSION_INCOMPATIBLE: { number: -32000 },
};

const internalErrorNumber = -32603;
const maxAvailable = 10;

/**
 * Converts an error to its wire form. Never throws. Everything but a SkillsError of the table becomes INTERNAL: the caller gets an id, and
 * the details are logged with it.
 */
export function toWireError(error: unknown, options: InternalErrorOptions): WireError {
  const row = isSkillsError(error) ? table[error.code] : undefined;
  if (row === undefined || !isSkillsError(error)) return internal(error, options);
  const { hint, available, violations, limit, retryable } = error.facts;
  return {
    code: row.number,
    message: error.message,
    data: {
      code: error.code,
      ...(typeof hint === "string" && { hint }),
      ...(isTexts(available) && { available: available.slice(0, maxAvailable) }),
      ...(Array.isArray(violations) && { violations: violations as readonly Violation[] }),
      ...(typeof limit === "string" && { limit }),
      retryable: typeof retryable === "boolean" ? retryable : row.retryable === true,
    },
  };
}

function internal(error: unknown, options: InternalErrorOptions): WireError {
  const { message, facts } = toInternalError(error, options);
  const data = { code: "INTERNAL" as const, error_id: String(facts.errorId), retryable: false };
  return { code: internalErrorNumber, message, data };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
