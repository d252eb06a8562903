import { systemClock, timeWaited } from "../../src/base/clock.ts";
import type { AnswerOption } from "../../src/runtime/question.ts";

interface PermissionRequest {
  readonly id?: unknown;
  readonly method?: string | undefined;
  readonly params?: unknown;
}

/** The response of an editor whose user chooses the option of a kind; undefined if the message is no permission request. */
export function choose({ id, method, params }: PermissionRequest, kind: AnswerOption["kind"]): object | undefined {
  if (method !== "session/request_permission") return undefined;
  const { options } = params as { readonly options: readonly { readonly optionId: string; readonly kind: string }[] };
  const optionId = options.find((option) => option.kind === kind)?.optionId;
  return { jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } };
}

/** Answers as a person does, who has to read the question first: sooner, nothing that lasts is taken for their answer. */
export function afterReading(answer: () => void): void {
  const start = timeWaited(systemClock);
  // What this thread does meanwhile is no time to read in: the relay may be on it.
  const look = (): void => {
    const left = readingTime - (timeWaited(systemClock) - start);
    if (left <= 0) answer();
    else setTimeout(look, Math.max(left, 10));
  };
  setTimeout(look, readingTime);
}

const readingTime = 500;
