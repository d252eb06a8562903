/** The closed list of codes a caller may switch on. */
export type SkillsErrorCode =
  | "INVALID_OPTIONS"
  | "UNREADABLE"
  | "AGENT_NOT_FOUND"
  | "AGENT_NOT_EXECUTABLE"
  | "SANDBOX_UNAVAILABLE"
  | "SKILL_NOT_READY";

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
