import type { App } from "../../../app.ts";
import { isSkillsError } from "../../../errors.ts";

/** The tier that isolates code here, or why there is none, as a sentence. Rejects with CLOSED. */
export async function findSandbox(
  app: Pick<App, "sandboxTier" | "log">,
): Promise<{ readonly tier: string } | { readonly reason: string }> {
  try {
    return { tier: await app.sandboxTier() };
  } catch (error) {
    if (isSkillsError(error) && error.code === "CLOSED") throw error;
    if (isSkillsError(error)) return { reason: error.message };
    app.log("error", `The sandbox cannot be opened: ${String(error)}`);
    return { reason: "The sandbox cannot be opened; see the log." };
  }
}
