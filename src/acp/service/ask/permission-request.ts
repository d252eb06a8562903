import path from "node:path";
import { counted } from "../../../base/text/code-points.ts";
import { quoted } from "../../../base/text/quoted.ts";
import { type Answer, type Question, toLine, toLines, markUnseen } from "../../../runtime/question.ts";
import type { ChangedFile } from "../../../skills/files.ts";
import { elicitationCreate, requestPermission } from "../../../wire/methods.ts";
import type { AskedAs } from "../../messages/editor-reply.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";

/** A question as a request to the editor, with the meaning of the answers. */
interface QuestionRequest {
  readonly method: string;
  readonly params: JsonRecord;
  /** The fields of the tool call that shows the question. */
  readonly fields: JsonRecord;
  readonly asked: AskedAs;
}

interface AskedWhere {
  readonly sessionId: string;
  /** The id of the tool call that shows the question. It is unique in the session. */
  readonly toolCallId: string;
  /** The editor's version of ACP. */
  readonly protocol: 1 | 2;
}

/** Converts a question to a permission request. The title has everything essential, because some editors show nothing else. */
export function toPermissionRequest(question: Question, where: AskedWhere): QuestionRequest {
  const { sessionId, protocol } = where;
  const { options, answers } = toOptions(question);
  const toolCall = toQuestionCall(question, where);
  const asked = protocol === 2 ? { title: question.title, subject: { type: "tool_call", toolCall } } : { toolCall };
  return {
    method: requestPermission,
    params: { sessionId, ...asked, options },
    fields: toolCall,
    asked: { answers, isForm: false, about: question.about },
  };
}

/** The maximum length of the patch in a form, in characters. The tool call of the question has each file's diff. */
const maxPatchLength = 16 * 1024;

/**
 * Converts a question to a form (ACP, "Elicitation"), which belongs to the tool call that shows the question. It has everything that the
 * user decides about, the answers, and a field for the reason of a no.
 */
export function toElicitation(question: Question, where: AskedWhere): QuestionRequest {
  const { options, about } = question;
  const { sessionId, toolCallId } = where;
  const patch = toPatch(question, maxPatchLength);
  const answer = { type: "string", title: "Answer", enum: options.map(({ label }) => label) };
  const why = { type: "string", title: "Why not?", description: "Goes to the model, if you say no.", maxLength: 500 };
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

/** Makes the tool call that shows a question. */
function toQuestionCall(question: Question, { toolCallId, protocol }: AskedWhere): JsonRecord {
  const { title, about, skill } = question;
  const content = toPermissionContent(question, protocol);
  const kind = about === "read" ? "read" : "execute";
  return { toolCallId, title, kind, status: "pending", ...(content.length > 0 && { content }), rawInput: skill ?? {} };
}

/**
 * The option ids that every editor's buttons can send: some editors know no others. `allow_always` is not used, because with it
 * avante.nvim answers later questions itself. A reply is matched to its question by the request's id, which nobody can guess.
 */
const optionIds: Readonly<Record<Answer, string>> = {
  once: "allow_once",
  trust: "allow",
  "not-now": "reject_once",
  block: "reject_always",
};

/** Converts the answers of a question to the options of a request, and maps each option's id to its answer. */
export function toOptions({ options }: Pick<Question, "options">): {
  readonly options: readonly JsonRecord[];
  readonly answers: ReadonlyMap<string, Answer>;
} {
  return {
    options: options.map(({ answer, label, kind }) => ({ optionId: optionIds[answer], name: label, kind })),
    answers: new Map(options.map(({ answer }) => [optionIds[answer], answer])),
  };
}

const maxDiffs = 20;
const maxDiffBytes = 64 * 1024;
const maxNamed = 100;

/** Describes a skill and its changes since the approved version: in words, widened permissions first, then one diff per text file. */
export function toPermissionContent(
  { wants, widened, signed, expects, hostCommands, changed, directory = "/" }: Question,
  protocol: 1 | 2,
): readonly JsonRecord[] {
  const shown = changed.filter(isShown).slice(0, maxDiffs);
  const others = changed.filter((file) => !shown.includes(file as ShownFile));
  const named = others.slice(0, maxNamed).map((file) => toLine(quoted(file.path, { maxLength: 1_024 })));
  const more = others.length > maxNamed ? [`and ${others.length - maxNamed} more`] : [];
  const lines = [
    ...(widened.length === 0 ? [] : [`New since the version that was approved: ${widened.join(", ")}.`]),
    ...(wants.length === 0 ? [] : [`All that it wants: ${wants.join(", ")}.`]),
    ...[signed, expects, hostCommands].filter((words) => words !== undefined),
    ...(changed.length === 0 ? [] : [`Changed files: ${changed.length}.`]),
    ...(others.length === 0 ? [] : [`Not shown here: ${[...named, ...more].join(", ")}`]),
  ];
  const text = lines.length === 0 ? [] : [{ type: "content", content: { type: "text", text: lines.join("\n") } }];
  return [...text, ...shown.map((file) => toDiff(file, toLine(path.join(directory, file.path)), protocol))];
}

/** Writes one patch of all changed texts that fit, and the number of changed files that are not in it. */
function toPatch({ changed }: Question, maxLength: number): string {
  const texts = changed.filter(isShown);
  const patches = texts.map(({ path: name, before, after }) => toGitPatch(toLine(name), before, after));
  let length = 0;
  const fitting = patches.filter((patch) => {
    const fits = length + patch.length <= maxLength;
    if (fits) length += patch.length;
    return fits;
  });
  const missing = changed.length - fitting.length;
  if (missing === 0) return markUnseen(fitting.join(""));
  const left = `The changes of ${counted(missing, "file")} are not shown here.\n`;
  return `${markUnseen(fitting.join(""))}${fitting.length === 0 ? "" : "\n"}${left}`;
}

type ShownFile = ChangedFile & { readonly after: string };

/** Whether the diff of a file is shown. A file that was removed, or is binary or large, is only named. */
function isShown(file: ChangedFile): file is ShownFile {
  const { before = "", after } = file;
  return after !== undefined && Buffer.byteLength(before) <= maxDiffBytes && Buffer.byteLength(after) <= maxDiffBytes;
}

function toDiff({ path: name, before, after }: ShownFile, absolute: string, protocol: 1 | 2): JsonRecord {
  if (protocol === 1)
    return { type: "diff", path: absolute, ...(before !== undefined && { oldText: before }), newText: after };
  return {
    type: "diff",
    changes: [{ operation: before === undefined ? "add" : "modify", path: absolute, fileType: "text" }],
    patch: { format: "git_patch", text: toGitPatch(name, before, after) },
  };
}

/** The number of unchanged lines around a change. */
const context = 3;

/**
 * Writes the change of one text file in git's patch format, as one hunk from the first differing line to the last. `before` is undefined
 * for a new file. Takes time linear in the length of the texts, which are not trusted.
 */
export function toGitPatch(path: string, before: string | undefined, after: string): string {
  const [old, now] = [linesOf(before ?? ""), linesOf(after)];
  const minLength = Math.min(old.length, now.length);
  let start = 0;
  while (start < minLength && old[start] === now[start]) start++;
  let end = 0;
  while (end < minLength - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const from = Math.max(start - context, 0);
  const rest = Math.max(end - context, 0);
  const [oldEnd, nowEnd] = [old.length - rest, now.length - rest];
  const [oldName, nowName] = [quote(`a/${path}`), quote(`b/${path}`)];
  return [
    `diff --git ${oldName} ${nowName}\n`,
    ...(before === undefined ? ["new file mode 100644\n"] : []),
    `--- ${before === undefined ? "/dev/null" : oldName}\n`,
    `+++ ${nowName}\n`,
    `@@ -${rangeOf(from, oldEnd)} +${rangeOf(from, nowEnd)} @@\n`,
    ...old.slice(from, start).map((line) => toPatchLine(" ", line)),
    ...old.slice(start, old.length - end).map((line) => toPatchLine("-", line)),
    ...now.slice(start, now.length - end).map((line) => toPatchLine("+", line)),
    ...now.slice(now.length - end, nowEnd).map((line) => toPatchLine(" ", line)),
  ].join("");
}

/** Splits a text into lines, with their line breaks. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function toPatchLine(sign: string, line: string): string {
  return line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}

function rangeOf(from: number, end: number): string {
  return `${end > from ? from + 1 : from},${end - from}`;
}

/** Quotes an unusual path like git, so that a file's name cannot look like another line of the patch. */
function quote(path: string): string {
  return /["\\\u0000-\u001f\u007f]/.test(path) ? JSON.stringify(path) : path;
}
