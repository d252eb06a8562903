import { SkillsError, isSkillsError } from "../../base/errors.ts";

/** A failed statement. `isOutage`: the database was unreachable or ended the connection, so that the statement may succeed later. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
  readonly isOutage: boolean;
  /** The SQLSTATE; empty if the database gave none. */
  readonly state: string;

  constructor(message: string, { cause, state, isOutage }: { cause: unknown; state: string; isOutage: boolean }) {
    super(message, { cause });
    this.state = state;
    this.isOutage = isOutage;
  }
}

/** The classes of SQLSTATE that do not concern the statement: connection, resources, intervention, system. */
const outages = /^(?:08|53|57P|58|25006)/;
const form = /^[0-9A-Z]{5}$/;

/** Converts an error of the driver into a `DatabaseError`; returns all others unchanged. */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof DatabaseError || isSkillsError(error) || !(error instanceof Error)) return error;
  const { code = "" } = error as { readonly code?: string };
  if (form.test(code) && "severity" in error)
    return new DatabaseError(error.message, { cause: error, state: code, isOutage: outages.test(code) });
  const isOfDriver =
    "syscall" in error ||
    /^(?:Connection terminated|Query read timeout|timeout |Client (?:has|was))/i.test(error.message);
  return isOfDriver ? new DatabaseError(error.message, { cause: error, state: "", isOutage: true }) : error;
}

/** Returns the error for options that name an unusable cluster. */
export function unusableCluster(message: string, cause?: unknown): SkillsError {
  return new SkillsError("INVALID_OPTIONS", message, { cause, facts: { option: "cluster" } });
}

/** Throws INVALID_OPTIONS for a failed import of pg or pg-boss. */
export function packagesMissing(cause: unknown): never {
  throw unusableCluster("--cluster needs the packages pg and pg-boss: npm install pg pg-boss", cause);
}

/** Whether the database was unreachable, or unable to work for the moment. */
export function isOutage(error: unknown): boolean {
  return error instanceof DatabaseError && error.isOutage;
}
