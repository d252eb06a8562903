/** `POST /api/runs`: runs exactly the bytes of `digest`; answered with 202 and {@link RunStarted}, before it ends. */
export interface RunRequest {
  readonly skill: string;
  readonly digest: string;
  readonly nonce: string;
  /** As in `execute_skill`. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly script?: string;
  readonly input_blobs?: readonly string[];
  readonly timeout_ms?: number;
}

export interface RunStarted {
  readonly run: string;
}

/** The `run` event, and an element of `GET /api/runs/RUN`. `printed` has whole lines. */
export type RunNews =
  | { readonly run: string; readonly type: "queued"; readonly behind: number }
  | { readonly run: string; readonly type: "started"; readonly isolation: string }
  | { readonly run: string; readonly type: "printed"; readonly text: string }
  | { readonly run: string; readonly type: "blob"; readonly blob: OutputBlob }
  | { readonly run: string; readonly type: "ended"; readonly status: RunState };

export type RunState = "queued" | "running" | "interrupted" | "completed" | "failed" | "refused" | "cancelled";

export interface OutputBlob {
  readonly id: string;
  readonly kind: string;
  readonly sizeBytes: number;
  readonly path?: string;
}

/** `GET /api/runs/RUN`, of runs started in this page or by anyone on this machine. `DELETE` cancels one of this page's. */
export interface ShownRun {
  readonly run: string;
  readonly skill?: string;
  readonly digest?: string;
  readonly at: number;
  readonly status: RunState;
  /** The last 256 KiB of what it printed; only of this page's own runs. */
  readonly printed: string;
  readonly blobs: readonly OutputBlob[];
  /** As `execute_skill` answers it. */
  readonly result?: ShownResult;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** `POST /api/blobs`, body: the bytes, `content-type`: their kind. `GET /api/blobs/ID` downloads them. */
export interface StoredBlob {
  readonly id: string;
  readonly sizeBytes: number;
}

/** `GET /api/skills/ID/history`: newest first. */
export interface SkillHistory {
  readonly runs: readonly Pick<ShownRun, "run" | "at" | "status" | "digest">[];
  /** What the ledger says: uses, questions, answers, grants. */
  readonly events: readonly {
    readonly at: number;
    readonly what: string;
    readonly door: string;
    readonly version?: string;
    readonly digest?: string;
    readonly session?: string;
    readonly outcome?: string;
    readonly detail?: string;
  }[];
}

/** The parts of a Run (CONTRACT C-5.1) that are shown. */
export interface ShownResult {
  readonly status: "completed" | "failed";
  readonly summary: string;
  readonly output?: unknown;
  readonly error?: { readonly type: string; readonly message: string; readonly code?: string };
  readonly output_blobs: readonly string[];
  readonly logs_preview: string;
  readonly logs_blob?: string;
  readonly duration_ms: number;
}
