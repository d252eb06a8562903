import * as z from "zod";

/**
 * `POST /api/runs`: runs exactly the bytes of `digest`. Answered with 202 and {@link RunStarted} once it runs or waits for its turn, so that
 * what is wrong before that is the answer: PERMISSION_DENIED, STALE, VALIDATION_ERROR, …
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

/** The `run` event, of runs started in this page. */
export type RunNews =
  | { readonly run: string; readonly type: "queued"; readonly behind: number }
  | { readonly run: string; readonly type: "started"; readonly isolation: string }
  /** `at`: the characters printed before `text`. Where that is more than what was sent so far, the text between is not sent. */
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

/** `GET /api/runs/RUN`, of runs started in this page or by anyone on this machine. `DELETE` cancels one of this page's. */
export interface ShownRun {
  readonly run: string;
  readonly skill?: string | undefined;
  readonly digest?: string | undefined;
  readonly at: number;
  readonly status: RunState;
  /** Its blobs can be downloaded here: the person at this machine started it. */
  readonly isOwn: boolean;
  /** The last 256 KiB of what it printed, and the characters before that; of other runs than this page's own, nothing. */
  readonly printed: { readonly at: number; readonly text: string };
  readonly blobs: readonly OutputBlob[];
  /** The result, as `execute_skill` returns it. */
  readonly result?: ShownResult | undefined;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string | undefined } | undefined;
}

/** `POST /api/blobs`, body: the bytes, `content-type`: their kind. `GET /api/blobs/ID` downloads them. */
export type UploadedBlob = Pick<OutputBlob, "id" | "sizeBytes">;

/** Who did something. */
interface By {
  /** The door that the call came through: `mcp`, `cli`, … */
  readonly door: string;
  /** The ACP session. */
  readonly session?: string | undefined;
}

/** `GET /api/skills/ID/history`: newest first, at most 200 of each. Runs are stored for 24 hours. */
export interface SkillHistory {
  readonly runs: readonly (Pick<ShownRun, "run" | "at" | "status" | "digest"> &
    By & {
      /** The name of the agent. */
      readonly agent?: string | undefined;
    })[];
  readonly events: readonly LedgerEvent[];
}

/** What the ledger says. */
export interface LedgerEvent extends By {
  readonly at: number;
  /** `use` of a tool or of the skill; `start` of a run; `ask`, `answer`, `refusal`, `permission`, `grant`, `revoke`, or what later versions write. */
  readonly what: string;
  /** A tool, or `prompt` for a skill that a person called by `/name`. */
  readonly tool: string;
  readonly digest?: string | undefined;
  readonly run?: string | undefined;
  readonly outcome?: string | undefined;
  readonly code?: string | undefined;
  /** The question; why it was denied; what the agent wanted to do. */
  readonly about?: string | undefined;
  /** What was answered, or why there was no answer. */
  readonly answer?: string | undefined;
  /** What it is allowed by: `once`, `session`, or the id of a grant. */
  readonly grant?: string | undefined;
}

/** The parts of the result of `execute_skill` that are shown. */
export interface ShownResult {
  readonly status: "completed" | "failed";
  readonly summary: string;
  readonly output?: unknown;
  readonly error?: { readonly type: string; readonly message: string; readonly code?: string | undefined } | undefined;
  readonly logs_preview: string;
  readonly logs_blob?: string | undefined;
}
