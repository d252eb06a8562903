import { elicitationCreate } from "../../../wire/methods.ts";
import { type Question, toLines } from "../../../runtime/question.ts";
import { type AskedWhere, type QuestionRequest, toPatch, toQuestionCall } from "./permission-request.ts";

/** The limit for the text of changes in a form, in characters; the tool call beside it has each file's diff. */
const longestPatch = 16 * 1024;

/**
 * A question as a form (ACP, "Elicitation"): all that the person decides about, the answers, and a field for the reason of a no. It belongs
 * to the tool call that shows the question.
 */
export function toElicitation(question: Question, where: AskedWhere): QuestionRequest {
  const { options, about } = question;
  const { sessionId, toolCallId } = where;
  const patch = toPatch(question, longestPatch);
  const answer = { type: "string", title: "Answer", enum: options.map(({ label }) => label) };
  const why = { type: "string", title: "Why not?", description: "The model is told, if you say no.", maxLength: 500 };
  return {
    method: elicitationCreate,
    params: {
      sessionId,
      toolCallId,
      mode: "form",
      message: [...toLines(question), ...(patch === "" ? [] : ["", patch])].join("\n"),
      requestedSchema: { type: "object", properties: { answer, why }, required: ["answer"] },
    },
    fields: toQuestionCall(question, where),
    asked: { answers: new Map(options.map(({ answer, label }) => [label, answer])), isForm: true, about },
  };
}
