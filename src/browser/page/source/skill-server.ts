import type { ReadonlySignal } from "@preact/signals";
import type { RunNews, RunRequest, RunStarted, ShownRun, SkillHistory, UploadedBlob } from "../../wire/runs.ts";
import type { Budget, SessionList } from "../../wire/sessions.ts";
import type { About, DecisionRequest, FileContent, OpenFile, SkillTouched } from "../../wire/skills.ts";
import type { AppliedPlan, Discovered, PlanRequest, SourceList, SourcePlan } from "../../wire/sources.ts";

/** What the server of `acp-skills browse` answers beyond the list, one function an address. All reject with a {@link SourceError}. */
export interface SkillServer {
  /** Absent until it was read. */
  readonly about: ReadonlySignal<About | undefined>;

  file(skill: string, path: string, signal?: AbortSignal): Promise<FileContent>;
  history(skill: string, signal?: AbortSignal): Promise<SkillHistory>;
  decide(skill: string, decision: DecisionRequest): Promise<void>;
  open(skill: string, file: OpenFile): Promise<void>;

  startRun(request: RunRequest): Promise<RunStarted>;
  run(run: string, signal?: AbortSignal): Promise<ShownRun>;
  cancelRun(run: string): Promise<void>;
  storeBlob(bytes: Blob): Promise<UploadedBlob>;
  readBlob(blob: string, signal?: AbortSignal): Promise<Blob>;

  sessions(signal?: AbortSignal): Promise<SessionList>;
  budget(signal?: AbortSignal): Promise<Budget>;

  sources(signal?: AbortSignal): Promise<SourceList>;
  discover(source: string, signal?: AbortSignal): Promise<Discovered>;
  plan(request: PlanRequest, signal?: AbortSignal): Promise<SourcePlan>;
  apply(plan: Pick<SourcePlan, "plan" | "nonce">): Promise<AppliedPlan>;

  /** Calls `listener` for every event of that kind until the returned function is called. */
  on<Kind extends keyof ServerEvents>(kind: Kind, listener: (event: ServerEvents[Kind]) => void): () => void;
}

/** `reconnected`: events may have been missed; read again what is shown. */
export interface ServerEvents {
  readonly run: RunNews;
  /** Files of a skill that was read changed. */
  readonly skill: SkillTouched;
  readonly sessions: undefined;
  /** The list changed, whatever of it. */
  readonly skills: undefined;
  readonly reconnected: undefined;
}
