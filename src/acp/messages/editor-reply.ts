import type { OnceLog } from "../../base/log.ts";
import { type Answer, type Reply, asPerson } from "../../runtime/question.ts";
import { isRecord, recordAt } from "./raw-message.ts";

/** The editor's response to a permission request of ours, reduced to what counts. */
export type EditorReply =
  | { readonly optionId: string }
  | { readonly cancelled: true }
  /** Why it is no answer, as the end of a sentence. */
  | { readonly fault: string };

/** ACP's error for a cancelled request. */
const requestCancelled = -32800;
const longestOptionId = 256;
const longestFault = 200;

/** Reads a response; anything that is not exactly an answer is a fault. */
export function readEditorReply(message: unknown): EditorReply {
  const error = isRecord(message) ? message["error"] : undefined;
  if (error !== undefined && error !== null) return ofError(error);
  const outcome = recordAt(message, "result", "outcome");
  switch (outcome?.["outcome"]) {
    case "cancelled":
      return { cancelled: true };
    case "selected": {
      const { optionId } = outcome;
      if (typeof optionId === "string" && optionId.length <= longestOptionId) return { optionId };
      return { fault: "the editor selected an option without saying which" };
    }
    default:
      return { fault: "the editor's response has no valid outcome" };
  }
}

/** What a reply means for a question with these options, so long after it was asked. */
export function fromEditorReply(
  given: EditorReply,
  answers: ReadonlyMap<string, Answer>,
  { elapsedMs, logOnce }: { readonly elapsedMs: number } & Pick<OnceLog, "logOnce">,
): Reply {
  const reply = asPerson(meaningOf(given, answers), elapsedMs);
  if (reply.answer !== undefined && reply.byItself === true)
    logOnce("warning", "The editor answered a question before a person could read it, which counts once at most.");
  return reply;
}

function meaningOf(reply: EditorReply, answers: ReadonlyMap<string, Answer>): Reply {
  if ("cancelled" in reply) return { missing: "cancelled" };
  if ("fault" in reply) return { missing: "failed", detail: reply.fault };
  const answer = answers.get(reply.optionId);
  if (answer !== undefined) return { answer };
  return { missing: "failed", detail: "the editor selected an option that it was not offered" };
}

function ofError(error: unknown): EditorReply {
  const { code, message } = isRecord(error) ? error : {};
  if (code === requestCancelled) return { cancelled: true };
  const number = typeof code === "number" ? ` ${code}` : "";
  const text = typeof message === "string" ? `: ${toLine(message)}` : "";
  return { fault: `the editor answered with error${number}${text}` };
}

function toLine(text: string): string {
  const line = text
    .slice(0, 2 * longestFault)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return line.length <= longestFault ? line : `${line.slice(0, longestFault - 1)}…`;
}
