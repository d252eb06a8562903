import { type SkillsErrorCode, isSkillsError } from "../../../base/errors.ts";
import { toInternalError } from "../../../base/failures/internal-error.ts";
import type { Log } from "../../../base/log.ts";
import { sharingErrors } from "../../../wire/skill-sharing.ts";
import type { RouteResult, HttpExchange } from "../../serve-context.ts";

type SharingCode = keyof typeof sharingErrors;

/** The codes of Skill Sharing for those of acp-skills; INTERNAL for all others. */
const codes: Partial<Record<SkillsErrorCode, SharingCode>> = {
  PARSE_ERROR: "VALIDATION_ERROR",
  INVALID_REQUEST: "VALIDATION_ERROR",
  VALIDATION_ERROR: "VALIDATION_ERROR",
  INVALID_CURSOR: "VALIDATION_ERROR",
  NOT_EXECUTABLE: "VALIDATION_ERROR",
  UNSUPPORTED_LANGUAGE: "VALIDATION_ERROR",
  BLOB_NOT_FOUND: "VALIDATION_ERROR",
  AUTH_REQUIRED: "AUTH_REQUIRED",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  // The caller may not call this tool.
  METHOD_NOT_FOUND: "PERMISSION_DENIED",
  SKILL_NOT_FOUND: "SKILL_NOT_FOUND",
  VERSION_NOT_FOUND: "VERSION_INCOMPATIBLE",
  VERSION_INCOMPATIBLE: "VERSION_INCOMPATIBLE",
  RATE_LIMITED: "RATE_LIMITED",
  QUOTA_EXCEEDED: "RATE_LIMITED",
  RUNTIME_BUSY: "ENDPOINT_UNREACHABLE",
  SANDBOX_UNAVAILABLE: "ENDPOINT_UNREACHABLE",
  SECRET_MISSING: "ENDPOINT_UNREACHABLE",
  SKILL_NOT_READY: "ENDPOINT_UNREACHABLE",
  ENDPOINT_UNREACHABLE: "ENDPOINT_UNREACHABLE",
  EXECUTION_TIMEOUT: "EXECUTION_TIMEOUT",
};

/** The seconds to wait before another attempt, for errors that the same request may get past later. */
const retryAfter: Partial<Record<SkillsErrorCode, number>> = { RATE_LIMITED: 1, QUOTA_EXCEEDED: 60, RUNTIME_BUSY: 1 };

/** The facts of errors that help callers, and are meant for them. */
const publicFacts = ["hint", "available", "violations"] as const;

/** Wraps a handler, so that its errors are answered in the form of Skill Sharing. */
export function withSharingErrors(
  log: Log,
  answer: (exchange: HttpExchange) => RouteResult | Promise<RouteResult>,
): (exchange: HttpExchange) => Promise<RouteResult> {
  return async (exchange) => {
    try {
      return await answer(exchange);
    } catch (error) {
      if (!exchange.response.destroyed) answerError(exchange, error, log);
      return undefined;
    }
  };
}

/** Answers with an error. The details of an internal failure are only in the log. */
function answerError(exchange: HttpExchange, given: unknown, log: Log): void {
  const known = isSkillsError(given) && codes[given.code] !== undefined ? given : toInternalError(given, { log });
  const code = codes[known.code] ?? "INTERNAL";
  const facts = Object.fromEntries(
    publicFacts.flatMap((name) => (name in known.facts ? [[name, known.facts[name]]] : [])),
  );
  // The code of acp-skills is more exact if several have one code of Skill Sharing.
  const details = { ...(known.code !== code && code !== "INTERNAL" && { reason: known.code }), ...facts };
  const after = retryAfter[known.code];
  const error = {
    code,
    message: known.message,
    ...(Object.keys(details).length > 0 && { details }),
    ...(after !== undefined && { retry: { after_seconds: after } }),
  };
  exchange.sendJson(
    sharingErrors[code],
    { error },
    {
      ...(after !== undefined && { "retry-after": String(after) }),
      ...(code === "AUTH_REQUIRED" && { "www-authenticate": "Bearer" }),
    },
  );
}
