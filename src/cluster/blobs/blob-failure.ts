import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { DatabaseError, isOutage } from "../database/database-error.ts";

/** A failure of a blob's source or signal; `cause` is rethrown. */
export class BlobSourceFailure extends Error {}

/** A failure of the object store: it was not reached, or its answer was wrong. */
export class ObjectStoreFailure extends Error {}

type BlobWork = "stored" | "read" | "removed";

/** The SQLSTATEs of deadlocks, and of rows removed between two statements: the next attempt may succeed. */
const transient = /^(?:40|23503)/;

export function toBlobFailure(doing: BlobWork, error: unknown): unknown {
  if (error instanceof BlobSourceFailure) return error.cause;
  if (isSkillsError(error)) return error;
  const busy = (reason: string): SkillsError =>
    new SkillsError("RUNTIME_BUSY", `Blobs cannot be ${doing} at the moment: ${reason}.`, {
      cause: error,
      facts: { hint: "Try again later." },
    });
  if (error instanceof ObjectStoreFailure) return busy("their object store does not answer as it should");
  const state = error instanceof DatabaseError ? error.state : "unknown";
  if (state === "53100")
    return new SkillsError("QUOTA_EXCEEDED", `Blobs cannot be ${doing}: the disk of the cluster's database is full.`, {
      cause: error,
      facts: { limit: "disk" },
    });
  if (isOutage(error)) return busy("the database of the cluster cannot be reached");
  if (transient.test(state)) return busy("another process is changing the same ones");
  return new SkillsError("INTERNAL", `The blob store failed (${state}).`, { cause: error, facts: { system: state } });
}
