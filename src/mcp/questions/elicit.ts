import type { ElicitRequestFormParams, ServerContext } from "@modelcontextprotocol/server";
import { type Clock, timeWaited } from "../../base/clock.ts";
import { quoted } from "../../base/text/quoted.ts";
import { type Ask, type Question, type Reply, asPerson, toLine } from "../../runtime/question.ts";

/** How long a person has to answer. */
export const answerTime = 5 * 60_000;
/** The library's own timer, which is not `clock`, must not be the first. */
const libraryTime = 2 * answerTime;
/** How many questions one client may have open. */
const maxOpen = 8;

/** Refuses questions of one client while too many others are open. */
export function limitQuestions(): (ask: Ask) => Ask {
  let open = 0;
  return (ask) => async (question, signal, shown) => {
    if (open >= maxOpen) return { missing: "failed", detail: `${maxOpen} other questions are open` };
    open += 1;
    try {
      return await ask(question, signal, shown);
    } finally {
      open -= 1;
    }
  };
}

/** Asks by `elicitation/create`, in the revisions in which a server can send requests. */
export function askByRequest(send: ServerContext["mcpReq"]["send"], clock: Clock): Ask {
  return async (question, signal, shown) => {
    signal.throwIfAborted();
    const late = new AbortController();
    const stopTimer = clock.after(answerTime, () => late.abort());
    try {
      const request = { method: "elicitation/create", params: { ...toForm(question) } } as const;
      const askedAt = timeWaited(clock);
      const asking = send(request, { signal: AbortSignal.any([signal, late.signal]), timeout: libraryTime });
      shown?.();
      return asPerson(fromElicitResult(await asking, question), timeWaited(clock) - askedAt);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) return { missing: "timeout" };
      const detail = error instanceof Error ? error.message : String(error);
      return { missing: "failed", detail: `the client answered: ${toLine(detail, longestDetail)}` };
    } finally {
      stopTimer();
    }
  };
}

const longestDetail = 200;
/** How many files are named; of the others, only the number is shown. */
const maxFiles = 20;

/** One choice; every client shows the message before it. */
export function toForm(question: Question): ElicitRequestFormParams {
  const { title, wants, widened, expects, changed, options } = question;
  const unseen = wants.filter((words) => !widened.includes(words));
  const lines = [
    title,
    ...widened.map((words) => `New: ${words}`),
    ...unseen.map((words) => `It ${words}`),
    ...(expects === undefined ? [] : [expects]),
    ...changed.slice(0, maxFiles).map(({ path }) => `Changed: ${toLine(quoted(path, { longest: 1_024 }))}`),
    ...(changed.length > maxFiles ? [`and ${changed.length - maxFiles} more files`] : []),
  ];
  const answer = { type: "string" as const, title: "Answer", enum: options.map(({ label }) => label) };
  return {
    mode: "form",
    message: lines.join("\n"),
    requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
  };
}

/** What a client's response means; anything that is not exactly an answer allows nothing. */
export function fromElicitResult(response: unknown, { options }: Pick<Question, "options">): Reply {
  const { action, content } = (response ?? {}) as Readonly<Record<string, unknown>>;
  if (action === "decline") return { answer: "not-now" };
  if (action === "cancel") return { missing: "cancelled" };
  const given = action === "accept" ? ((content ?? {}) as Readonly<Record<string, unknown>>)["answer"] : undefined;
  const chosen = options.find(({ label }) => label === given);
  if (chosen !== undefined) return { answer: chosen.answer };
  return { missing: "failed", detail: "the client's response is none of the answers" };
}
