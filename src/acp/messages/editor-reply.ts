import type { OnceLog } from "../../base/log.ts";
import { type Answer, type Question, type Reply, asPerson, toLine } from "../../runtime/question.ts";
import { isRecord, type JsonRecord, recordAt } from "./raw-message.ts";

/** The editor's response to a question of ours, a permission request or a form, reduced to what counts. */
export type EditorReply =
  | { readonly optionId: string }
  /** The fields of a form that was sent. */
  | { readonly form: FormFields }
  | { readonly declined: true }
  | { readonly cancelled: true }
  /** Why it is no answer, as the end of a sentence. */
  | { readonly fault: string };

interface FormFields {
  readonly answer: string;
  /** What the person wrote. */
  readonly why?: string;
}

/** ACP's error for a cancelled request. */
const requestCancelled = -32800;
const maxOptionIdLength = 256;
/** The limit for what a person writes, in characters. */
const maxReasonLength = 2_000;
const maxFaultLength = 200;

/** Reads a response; anything that is not exactly an answer is a fault. */
export function readEditorReply(message: unknown): EditorReply {
  const error = isRecord(message) ? message["error"] : undefined;
  if (error !== undefined && error !== null) return ofError(error);
  const result = recordAt(message, "result");
  if (typeof result?.["action"] === "string") return readForm(result);
  const outcome = recordAt(result, "outcome");
  switch (outcome?.["outcome"]) {
    case "cancelled":
      return { cancelled: true };
    case "selected": {
      const { optionId } = outcome;
      if (typeof optionId === "string" && optionId.length <= maxOptionIdLength) return { optionId };
      return { fault: "the editor selected an option without saying which" };
    }
    default:
      return { fault: "the editor's response has no valid outcome" };
  }
}

/** Exactly the fields that were asked for, as MCP and ACP have them: `{action, content}`. */
function readForm({ action, content }: JsonRecord): EditorReply {
  if (action === "decline") return { declined: true };
  if (action === "cancel") return { cancelled: true };
  if (action !== "accept") return { fault: "the editor's response to a form has no valid action" };
  const { answer, why, ...others } = isRecord(content) ? content : {};
  if (Object.keys(others).length > 0) return { fault: "the editor's form has fields that were not asked for" };
  if (typeof answer !== "string" || answer.length > maxOptionIdLength)
    return { fault: "the editor's form has no answer" };
  if (why === undefined || why === null || why === "") return { form: { answer } };
  if (typeof why !== "string" || why.length > maxReasonLength)
    return { fault: "what the editor's form gives as the reason is no text, or too long" };
  return { form: { answer, why } };
}

/** How a question was asked, and the answers by what the editor sends for them. */
export interface AskedAs {
  readonly answers: ReadonlyMap<string, Answer>;
  readonly isForm: boolean;
  readonly about: Question["about"];
}

/** What a reply means for a question, so long after it was asked. */
export function fromEditorReply(
  given: EditorReply,
  asked: AskedAs,
  { elapsedMs, logOnce }: { readonly elapsedMs: number } & Pick<OnceLog, "logOnce">,
): Reply {
  const reply = asPerson(meaningOf(given, asked), elapsedMs);
  if (reply.answer === undefined || reply.byItself !== true) return reply;
  const isAllowed = reply.answer === "once" || reply.answer === "trust";
  if (asked.about !== "read" || !isAllowed) {
    logOnce("warning", "The editor answered a question before a person could read it, which counts once at most.");
    return reply;
  }
  // Whether a project is trusted is nothing that a setting of the editor can decide.
  logOnce(
    "warning",
    "The editor trusted the skills of a project by itself, before a person could read the question. That does not count. Set the editor to ask, or run: acp-skills approvals grant --project",
  );
  return { missing: "failed", detail: "the editor answered by itself, before a person could read the question" };
}

function meaningOf(reply: EditorReply, { answers, isForm }: AskedAs): Reply {
  if ("cancelled" in reply) return { missing: "cancelled" };
  if ("fault" in reply) return { missing: "failed", detail: reply.fault };
  if (isForm !== ("form" in reply || "declined" in reply))
    return { missing: "failed", detail: "the editor's response is to another kind of question" };
  if ("declined" in reply) return { answer: "not-now" };
  const { answer: chosen, why } = "form" in reply ? reply.form : { answer: reply.optionId, why: undefined };
  const answer = answers.get(chosen);
  if (answer === undefined)
    return { missing: "failed", detail: "the editor selected an option that it was not offered" };
  const isRefusal = answer === "not-now" || answer === "block";
  return { answer, ...(isRefusal && why !== undefined && { why: toLine(why) }) };
}

function ofError(error: unknown): EditorReply {
  const { code, message } = isRecord(error) ? error : {};
  if (code === requestCancelled) return { cancelled: true };
  const number = typeof code === "number" ? ` ${code}` : "";
  const text = typeof message === "string" ? `: ${toShortLine(message)}` : "";
  return { fault: `the editor answered with error${number}${text}` };
}

function toShortLine(text: string): string {
  const line = text
    .slice(0, 2 * maxFaultLength)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  return line.length <= maxFaultLength ? line : `${line.slice(0, maxFaultLength - 1)}…`;
}
