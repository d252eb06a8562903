import * as z from "zod";

/**
 * `POST /api/runs`: runs exactly the bytes of `digest`. The answer is 202 with {@link RunStarted} once the run is started or queued. An
 * error before that is the answer instead: PERMISSION_DENIED, STALE, VALIDATION_ERROR, …
 */
export const runRequest = z.strictObject({
  skill: z.string(),
  digest: z.string(),
  nonce: z.string(),
  /** The arguments, as in `execute_skill`. */
  args: z.record(z.string(), z.unknown()).exactOptional(),
  script: z.string().exactOptional(),
  input_blobs: z.array(z.string()).exactOptional(),
  timeout_ms: z.number().exactOptional(),
});

export type RunRequest = Readonly<z.infer<typeof runRequest>>;

export type RunStarted = Pick<ShownRun, "run">;

/** The `run` event about a run that was started in a page of this server. */
export type RunNews =
  | { readonly run: string; readonly type: "queued"; readonly behind: number }
  | { readonly run: string; readonly type: "started"; readonly isolation: string }
  /** `at`: the number of characters printed before `text`. If it exceeds those sent so far, the text between is never sent. */
  | { readonly run: string; readonly type: "printed"; readonly at: number; readonly text: string }
  | { readonly run: string; readonly type: "blob"; readonly blob: OutputBlob }
  | { readonly run: string; readonly type: "ended"; readonly status: RunState };

export type RunState = "queued" | "running" | "interrupted" | "completed" | "failed" | "refused" | "cancelled";

export interface OutputBlob {
  readonly id: string;
  readonly kind: string;
  readonly sizeBytes: number;
  readonly path?: string | undefined;
}

/** `GET /api/runs/RUN`: any run on this machine. `DELETE` cancels a run that was started in a page of this server. */
export interface ShownRun {
  readonly run: string;
  readonly skill?: string | undefined;
  readonly digest?: string | undefined;
  readonly at: number;
  readonly status: RunState;
  /** Whether the user of this machine started the run: only then can its blobs be downloaded here. */
  readonly isOwn: boolean;
  /** The last 256 KiB that the run printed, and the number of characters before them. Empty for runs started elsewhere. */
  readonly printed: { readonly at: number; readonly text: string };
  readonly blobs: readonly OutputBlob[];
  /** The result, as `execute_skill` returns it. */
  readonly result?: ShownResult | undefined;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string | undefined } | undefined;
}

/** The answer to `POST /api/blobs`, whose body is the bytes and whose `content-type` is their kind. `GET /api/blobs/ID` downloads them. */
export type UploadedBlob = Pick<OutputBlob, "id" | "sizeBytes">;

/** The origin of a run or event: its transport and session. */
interface By {
  /** The transport of the call: `mcp`, `cli`, … */
  readonly door: string;
  /** The ACP session. */
  readonly session?: string | undefined;
}

/** `GET /api/skills/ID/history`: at most 200 runs and 200 events, newest first. Runs are stored for 24 hours. */
export interface SkillHistory {
  readonly runs: readonly (Pick<ShownRun, "run" | "at" | "status" | "digest"> &
    By & {
      /** The name of the agent. */
      readonly agent?: string | undefined;
    })[];
  readonly events: readonly LedgerEvent[];
}

/** An entry of the ledger about the skill. */
export interface LedgerEvent extends By {
  readonly at: number;
  /** `use` (tool or skill), `start` (run), `ask`, `answer`, `refusal`, `permission`, `grant`, `revoke`, or an event of later versions. */
  readonly what: string;
  /** A tool, or `prompt` for a skill that the user called by `/name`. */
  readonly tool: string;
  readonly digest?: string | undefined;
  readonly run?: string | undefined;
  readonly outcome?: string | undefined;
  readonly code?: string | undefined;
  /** The question, the reason of a denial, or what the agent wanted to do. */
  readonly about?: string | undefined;
  /** The answer, or why there was none. */
  readonly answer?: string | undefined;
  /** The authorization of the event: `once`, `session`, or the id of a grant. */
  readonly grant?: string | undefined;
}

/** The fields of the result of `execute_skill` that the page shows. */
export interface ShownResult {
  readonly status: "completed" | "failed";
  readonly summary: string;
  readonly output?: unknown;
  readonly error?: { readonly type: string; readonly message: string; readonly code?: string | undefined } | undefined;
  readonly logs_preview: string;
  readonly logs_blob?: string | undefined;
}
