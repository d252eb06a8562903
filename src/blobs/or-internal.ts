import { SkillsError, isSkillsError } from "../errors.ts";
import { SourceFailure } from "./stage-content.ts";

/** What we refuse, and what the source of a stream throws, as it is; anything else as INTERNAL, with the detail only in `cause`. */
export async function orInternal<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceFailure) throw error.cause;
    if (isSkillsError(error)) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw new SkillsError("INTERNAL", `The blob store failed (${code}).`, { cause: error, facts: { system: code } });
  }
}
