/** What a person is about to run. */
export interface RunDraft {
  /** The slug. */
  readonly skill: string;
  readonly script?: string | undefined;
  /** Of a script: `{argv, stdin?}`. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Besides those that arguments name. `name`: of the file. */
  readonly blobs: readonly { readonly id: string; readonly name: string }[];
  readonly timeoutMs?: number | undefined;
}

/** The arguments of `execute_skill`. */
export function toToolArguments({
  skill,
  script,
  args,
  blobs,
  timeoutMs,
}: RunDraft): Readonly<Record<string, unknown>> {
  return {
    name: skill,
    ...(script !== undefined && { script }),
    ...(Object.keys(args).length > 0 && { args }),
    ...(blobs.length > 0 && { input_blobs: blobs.map(({ id }) => id) }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
  };
}

/** The same as the call that a model makes. */
export function toToolCall(runDraft: RunDraft): string {
  return JSON.stringify({ name: "execute_skill", arguments: toToolArguments(runDraft) }, undefined, 2);
}
