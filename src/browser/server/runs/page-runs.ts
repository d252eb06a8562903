import type { Clock } from "../../../base/clock.ts";
import { createCaller } from "../../../runtime/caller.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { RunResult } from "../../../runtime/runs.ts";
import type { RunEvent } from "../../../wire/run-event.ts";
import type { OutputBlob, RunNews, RunRequest, ShownRun } from "../../wire/runs.ts";
import type { BrowseContext } from "../browse-context.ts";
import { askForRun } from "../decide.ts";
import { toRunRefusal } from "./shown-run.ts";

/** The runs that were started in the pages of one server. */
export interface PageRuns {
  /**
   * Resolves with the id once the run is started or queued. Rejects with an error before that, and with RATE_LIMITED if 8 runs have not
   * ended. `name`: the canonical name of the skill.
   */
  start(request: Omit<RunRequest, "nonce">, name: string): Promise<string>;
  find(run: string): ShownRun | undefined;
  /** Cancels a run if it has not ended. Resolves with undefined if no such run was started here. */
  cancel(run: string): Promise<ShownRun | undefined>;
}

const maxRunning = 8;
const maxRemembered = 100;
/** The maximum number of blobs listed for one run. */
const maxBlobs = 512;

interface PageRun {
  /** The facts about the run, and its status. */
  shown: Omit<ShownRun, "printed">;
  readonly blobs: OutputBlob[];
  readonly printed: PrintedTail;
  readonly controller: AbortController;
  ended: Promise<void>;
}

export function createPageRuns({ app, session, events, once: allowedNext, stopped, hold }: BrowseContext): PageRuns {
  const runs = new Map<string, PageRun>();
  const notify = (news: RunNews): void => events.push("run", news);
  /** The number of runs that have not ended. */
  let running = 0;

  function remember(id: string, run: PageRun): void {
    runs.set(id, run);
    for (const [other, { shown }] of runs) {
      if (runs.size <= maxRemembered) return;
      if (shown.status !== "queued" && shown.status !== "running") runs.delete(other);
    }
  }

  async function start(request: Omit<RunRequest, "nonce">, name: string): Promise<string> {
    const { skill, digest, ...input } = request;
    if (stopped.aborted) throw new SkillsError("RUNTIME_BUSY", "The skill browser is being stopped.");
    if (running >= maxRunning)
      throw new SkillsError("RATE_LIMITED", `${maxRunning} runs are running already; wait for one, or cancel one.`);
    const controller = new AbortController();
    let id = "";
    let accept: (run: string) => void = () => undefined;
    const accepted = new Promise<string>((resolve) => (accept = resolve));
    const blobs: OutputBlob[] = [];
    const run: PageRun = {
      shown: { run: id, skill, digest, at: Date.now(), status: "queued", isOwn: true, blobs },
      blobs,
      printed: new PrintedTail(app.clock, (piece) => notify({ run: id, type: "printed", ...piece })),
      controller,
      ended: Promise.resolve(),
    };
    const onEvent = (event: RunEvent): void => {
      if (event.type === "queued" && id === "") {
        id = event.runId;
        run.shown = { ...run.shown, run: id };
        remember(id, run);
      }
      // Runs of skills that the code calls have events of their own.
      if (event.runId !== id) return;
      follow(event, run, notify);
      // A run that has its turn at once is accepted when it starts: a missing secret or sandbox is reported before that.
      if (event.type === "started" || (event.type === "queued" && event.behind > 0)) accept(id);
    };
    const version = { name, digest };
    const isAllowed = allowedNext.take(version);
    const facts = { transport: "browser", onEvent, ...(isAllowed && { ask: askForRun(version, isAllowed) }) } as const;
    const caller = { ...createCaller(session, facts), digest };
    running += 1;
    const cancel = (): void => controller.abort(new Error("The skill browser was stopped."));
    stopped.addEventListener("abort", cancel, { once: true });
    const call = app.toolbox.call("execute_skill", { name: skill, ...input }, caller, controller.signal);
    run.ended = call
      .then(
        (result): Pick<ShownRun, "status" | "result" | "error"> => {
          const { status } = result as RunResult;
          return { status, result: result as RunResult };
        },
        (error: unknown): Pick<ShownRun, "status" | "result" | "error"> =>
          controller.signal.aborted
            ? { status: "cancelled" }
            : { status: "refused", error: toRunRefusal(error, app.log) },
      )
      .then((outcome) => {
        run.shown = { ...run.shown, ...outcome };
        run.printed.flush();
        running -= 1;
        stopped.removeEventListener("abort", cancel);
        if (id !== "") notify({ run: id, type: "ended", status: outcome.status });
      });
    hold(run.ended);
    try {
      return await Promise.race([accepted, call.then(() => id)]);
    } catch (error) {
      // Nothing ran, so the permission for the next run still holds.
      if (isAllowed) allowedNext.allow(version);
      throw error;
    }
  }

  function find(id: string): ShownRun | undefined {
    const run = runs.get(id);
    return run && { ...run.shown, printed: run.printed.read() };
  }

  return {
    start,
    find,
    async cancel(id) {
      const run = runs.get(id);
      run?.controller.abort(new Error("The run was cancelled."));
      await run?.ended;
      return find(id);
    },
  };
}

function follow(event: RunEvent, run: PageRun, notify: (news: RunNews) => void): void {
  const { runId } = event;
  switch (event.type) {
    case "queued":
      notify({ run: runId, type: "queued", behind: event.behind });
      return;
    case "started":
      run.shown = { ...run.shown, status: "running" };
      notify({ run: runId, type: "started", isolation: event.isolation });
      return;
    case "printed":
      run.printed.push(event.text);
      return;
    case "blob_kept": {
      if (run.blobs.length >= maxBlobs) return;
      const { blobId: id, kind, sizeBytes, path } = event;
      const blob = { id, kind, sizeBytes, path };
      run.blobs.push(blob);
      notify({ run: runId, type: "blob", blob });
      return;
    }
    // These are shown with the result, once that is known.
    case "ended":
    case "skill_called":
    case "secret_sent":
  }
}

type PrintedPiece = ShownRun["printed"];

const maxRetainedLength = 256 * 1024;
/** At most ten notifications a second, so a program that prints 64 MiB sends the page a few hundred kilobytes. */
const sendEveryMs = 100;
const maxSentLength = 32 * 1024;

/**
 * The last 256 KiB that a run printed. Pages are notified at intervals; each notification has at most the last 32 Ki new characters.
 */
export class PrintedTail {
  readonly #clock: Clock;
  readonly #notify: (piece: PrintedPiece) => void;
  #tail = "";
  #printed = 0;
  #sent = 0;
  #cancel: (() => void) | undefined;

  /** `notify` must not throw. */
  constructor(clock: Clock, notify: (piece: PrintedPiece) => void) {
    this.#clock = clock;
    this.#notify = notify;
  }

  push(text: string): void {
    this.#printed += text.length;
    this.#tail += text;
    // Cut seldom, because cutting copies.
    if (this.#tail.length > 2 * maxRetainedLength) this.#tail = this.read().text;
    if (text !== "") this.#cancel ??= this.#clock.after(sendEveryMs, () => this.flush());
  }

  /** Sends the text that was not sent yet. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#sent !== this.#printed) this.#notify(this.read(Math.min(maxSentLength, this.#printed - this.#sent)));
    this.#sent = this.#printed;
  }

  /** The last characters, at most `maxLength`, without half of a surrogate pair. */
  read(maxLength = maxRetainedLength): PrintedPiece {
    const end = this.#tail.slice(-maxLength);
    const text = /^[\udc00-\udfff]/.test(end) && this.#tail.length > maxLength ? end.slice(1) : end;
    return { at: this.#printed - text.length, text };
  }
}
