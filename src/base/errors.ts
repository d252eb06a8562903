/** The closed list of codes that a caller can switch on. */
export type SkillsErrorCode =
  /** An option is unknown or invalid. `facts` give the option, its accepted values, and the nearest valid name or value. */
  | "INVALID_OPTIONS"
  /** No visible skill has this name; `facts.available` lists the nearest ones. */
  | "SKILL_NOT_FOUND"
  /** A file or directory cannot be read: `facts.path`. */
  | "UNREADABLE"
  /** The command of an agent does not exist. */
  | "AGENT_NOT_FOUND"
  /** The command of an agent cannot be started. */
  | "AGENT_NOT_EXECUTABLE"
  /** The skills, or their server, are closed: `call` after `close`. */
  | "CLOSED"
  /** Over HTTP: the body is no JSON. */
  | "PARSE_ERROR"
  /** Over HTTP: the request is invalid. */
  | "INVALID_REQUEST"
  /** There is no tool with this name. */
  | "METHOD_NOT_FOUND"
  /** Arguments do not match the schema; `facts.violations` lists the fields. */
  | "VALIDATION_ERROR"
  /** The skill has no such version; `facts.available` lists some of its versions. */
  | "VERSION_NOT_FOUND"
  /** The skill, or the project, has no such file; `facts.available` lists the nearest names if they are known. */
  | "FILE_NOT_FOUND"
  /** There is no such blob: it expired, or belongs to another owner. */
  | "BLOB_NOT_FOUND"
  /** A path is invalid, or leaves the directory that the path is relative to. */
  | "INVALID_PATH"
  /** The cursor does not belong to this list. */
  | "INVALID_CURSOR"
  /** The skill, or the recorded run, cannot be run. */
  | "NOT_EXECUTABLE"
  /** Code of a model is in a language that does not run here. */
  | "UNSUPPORTED_LANGUAGE"
  /** A file is larger than can be read. */
  | "FILE_TOO_LARGE"
  /** Content is larger than a blob may be. */
  | "BLOB_TOO_LARGE"
  /** Blobs have reached a limit; `facts.limit` names the limit. */
  | "QUOTA_EXCEEDED"
  /** Over HTTP: the token is missing or wrong. */
  | "AUTH_REQUIRED"
  /** The user has to allow it; `facts.hint` says how. */
  | "PERMISSION_DENIED"
  /** Too much is running; try again. */
  | "RUNTIME_BUSY"
  /** No sandbox works here; `facts.hint` says what is missing. */
  | "SANDBOX_UNAVAILABLE"
  /** A secret that the skill needs has no value. */
  | "SECRET_MISSING"
  /** Packages of the skill are not installed, or its files just changed. */
  | "SKILL_NOT_READY"
  /** Over HTTP: too many requests; try again. */
  | "RATE_LIMITED"
  /** A source publishes skills in a form that cannot be used. */
  | "SOURCE_INVALID"
  /** A source, or the machine that offers a skill, does not answer. */
  | "ENDPOINT_UNREACHABLE"
  /** A run, or the download from a source, took too long. */
  | "EXECUTION_TIMEOUT"
  /** The skill of another server is described in a version that is not supported. */
  | "VERSION_INCOMPATIBLE"
  /** An internal error of acp-skills, or one that no other code fits; the log has the details. */
  | "INTERNAL";

const brand = Symbol.for("acp-skills.error");

/** The facts that only some codes have. */
interface FactsOfCode {
  /** The option, its accepted values, and the nearest name or value that would be accepted. */
  INVALID_OPTIONS: { option: string; expected: string | readonly string[]; nearest: string };
  VALIDATION_ERROR: { violations: readonly object[] };
  SKILL_NOT_FOUND: Available;
  VERSION_NOT_FOUND: Available;
  FILE_NOT_FOUND: Available;
  /** The limit that was reached. */
  QUOTA_EXCEEDED: { limit: "run" | "owner" | "store" | "disk" };
  UNREADABLE: { path: string };
}

/** The facts of an error about a name that does not exist. */
interface Available {
  /** The nearest names that exist. */
  available: readonly string[];
}

/** The facts of an error with this code, each if it is known: `hint`, which says what to do, and the facts that only some codes have. */
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

/** Recognises an error of acp-skills by its brand, even one of a second copy of the package; with a code, only errors of that code. */
export function isSkillsError<Code extends SkillsErrorCode = SkillsErrorCode>(
  value: unknown,
  code?: Code,
): value is SkillsError<Code> {
  if (typeof value !== "object" || value === null || (value as Record<symbol, unknown>)[brand] !== true) return false;
  return code === undefined || (value as SkillsError).code === code;
}

export function invalidOptions(message: string): SkillsError {
  return new SkillsError("INVALID_OPTIONS", message);
}

/** For the `catch` of a promise: returns undefined for a {@link SkillsError}. Throws any other error. */
export function undefinedIfOurs(error: unknown): undefined {
  if (!isSkillsError(error)) throw error;
}

/** A SkillsError as data, for other threads. */
export interface PlainError {
  readonly code: SkillsErrorCode;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly cause: string | undefined;
}

export function toPlainError(error: unknown): PlainError {
  if (!isSkillsError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: "INTERNAL", message, facts: {}, cause: undefined };
  }
  const { code, message, facts, cause } = error;
  return { code, message, facts, cause: cause instanceof Error ? cause.message : undefined };
}

export function fromPlainError({ code, message, facts, cause }: PlainError): SkillsError {
  return new SkillsError(code, message, {
    facts: { ...facts },
    ...(cause !== undefined && { cause: new Error(cause) }),
  });
}
