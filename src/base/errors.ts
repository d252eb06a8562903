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

/** The facts that only some codes have. */
interface FactsOfCode {
  /** The option, what it accepts, and the nearest name or value that would be accepted. */
  INVALID_OPTIONS: { option: string; expected: string | readonly string[]; nearest: string };
  VALIDATION_ERROR: { violations: readonly object[] };
  SKILL_NOT_FOUND: Available;
  VERSION_NOT_FOUND: Available;
  FILE_NOT_FOUND: Available;
  /** Whose limit was reached. */
  QUOTA_EXCEEDED: { limit: "run" | "owner" | "store" | "disk" };
  UNREADABLE: { path: string };
}

interface Available {
  /** The nearest names that exist. */
  available: readonly string[];
}

/** The facts of an error with this code, each where it is known: `hint`, what to do, and those that only some codes have. */
export type SkillsErrorFacts<Code extends SkillsErrorCode = SkillsErrorCode> = Readonly<
  Partial<{ hint: string | undefined } & (Code extends keyof FactsOfCode ? FactsOfCode[Code] : unknown)>
> &
  Readonly<Record<string, unknown>>;

/** The only error this package throws on purpose. Switch on `code`, never on the message; the original is in `cause`. */
export class SkillsError<Code extends SkillsErrorCode = SkillsErrorCode> extends Error {
  override readonly name = "SkillsError";
  readonly code: Code;
  readonly facts: SkillsErrorFacts<Code>;
  readonly [brand] = true;

  constructor(code: Code, message: string, options: { cause?: unknown; facts?: SkillsErrorFacts<Code> } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.facts = Object.freeze({ ...options.facts }) as SkillsErrorFacts<Code>;
  }
}

/** Recognises our error by its brand, also when it comes from a second copy of the package; with a code, only errors of that code. */
export function isSkillsError<Code extends SkillsErrorCode = SkillsErrorCode>(
  value: unknown,
  code?: Code,
): value is SkillsError<Code> {
  if (typeof value !== "object" || value === null || (value as Record<symbol, unknown>)[brand] !== true) return false;
  return code === undefined || (value as SkillsError).code === code;
}

/** For the `catch` of a promise: undefined for an error of ours. Throws any other. */
export function undefinedIfOurs(error: unknown): undefined {
  if (!isSkillsError(error)) throw error;
}
