/** The closed list of codes a caller may switch on. */
export type SkillsErrorCode =
  | "INVALID_OPTIONS"
  | "SKILL_NOT_FOUND"
  | "UNREADABLE"
  | "AGENT_NOT_FOUND"
  | "AGENT_NOT_EXECUTABLE"
  | "CLOSED"
  | "PARSE_ERROR"
  | "INVALID_REQUEST"
  | "METHOD_NOT_FOUND"
  | "VALIDATION_ERROR"
  | "VERSION_NOT_FOUND"
  | "FILE_NOT_FOUND"
  | "BLOB_NOT_FOUND"
  | "INVALID_PATH"
  | "INVALID_CURSOR"
  | "NOT_EXECUTABLE"
  | "UNSUPPORTED_LANGUAGE"
  | "FILE_TOO_LARGE"
  | "BLOB_TOO_LARGE"
  | "QUOTA_EXCEEDED"
  | "AUTH_REQUIRED"
  | "PERMISSION_DENIED"
  | "RUNTIME_BUSY"
  | "SANDBOX_UNAVAILABLE"
  | "SECRET_MISSING"
  | "SKILL_NOT_READY"
  | "RATE_LIMITED"
  | "SOURCE_INVALID"
  | "ENDPOINT_UNREACHABLE"
  | "EXECUTION_TIMEOUT"
  | "VERSION_INCOMPATIBLE"
  | "INTERNAL";

const brand = Symbol.for("acp-skills.error");

/** The only error this package throws on purpose. Switch on `code`, never on the message; the original is in `cause`. */
export class SkillsError extends Error {
  override readonly name = "SkillsError";
  readonly code: SkillsErrorCode;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly [brand] = true;

  constructor(
    code: SkillsErrorCode,
    message: string,
    options: { cause?: unknown; facts?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.facts = Object.freeze({ ...options.facts });
  }
}

/** Recognises our error by its brand, also when it comes from a second copy of the package. */
export function isSkillsError(value: unknown): value is SkillsError {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
