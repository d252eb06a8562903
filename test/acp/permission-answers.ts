import type { AnswerOption } from "../../src/trust/asking/question.ts";

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
  setTimeout(answer, 450);
}
