import type { OnceLog } from "../../base/log.ts";
import { type Answer, type Question, type Reply, asUserReply, toLine } from "../../runtime/question.ts";
import { isRecord, type JsonRecord, recordAt } from "./raw-message.ts";

/** The essential fields of the editor's response to a question of acp-skills, which is a permission request or a form. */
export type EditorReply =
  | { readonly optionId: string }
  /** The fields of a form that the user submitted. */
  | { readonly form: FormFields }
  | { readonly declined: true }
  | { readonly cancelled: true }
  /** Why the response is no answer, as the end of a sentence. */
  | { readonly fault: string };

interface FormFields {
  readonly answer: string;
  /** The reason that the user wrote. */
  readonly why?: string;
}

/** ACP's error for a cancelled request. */
const requestCancelled = -32800;
const maxOptionIdLength = 256;
/** The maximum length of the reason that the user writes, in characters. */
const maxReasonLength = 2_000;
const maxFaultLength = 200;

/** Reads a response. Anything that is not exactly an answer is a fault. */
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

/** Reads the response to a form, which MCP and ACP define alike: `{action, content}`. Fields that were not asked for are a fault. */
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

/** The form in which a question was asked, with each answer by the option id or form value that the editor sends for it. */
export interface AskedAs {
  readonly answers: ReadonlyMap<string, Answer>;
  readonly isForm: boolean;
  readonly about: Question["about"];
}

/** Converts the editor's reply to a question into a `Reply`, given the time since the question was asked. */
export function fromEditorReply(
  given: EditorReply,
  asked: AskedAs,
  { elapsedMs, logOnce }: { readonly elapsedMs: number } & Pick<OnceLog, "logOnce">,
): Reply {
  const reply = asUserReply(meaningOf(given, asked), elapsedMs);
  if (reply.answer === undefined || reply.byItself !== true) return reply;
  const isAllowed = reply.answer === "once" || reply.answer === "trust";
  if (asked.about !== "read" || !isAllowed) {
    logOnce("warning", "The editor answered a question before a person could read it, which counts once at most.");
    return reply;
  }
  // A setting of the editor must not decide whether a project is trusted.
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
