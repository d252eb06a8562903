import { signal, type Signal } from "@preact/signals";
import type { OutputBlob, RunNews, RunRequest, RunState, ShownRun } from "../../../../wire/runs.ts";
import type { SkillServer } from "../../../source/http-source.ts";
import { appendPrinted, emptyLog, type PrintedLog } from "./printed-log.ts";
import { RunFormState } from "./run-form.ts";

/** The runs that were started in one browser, and the forms that were filled in. Both stay while the user opens other views. */
type PageRunState = ReturnType<typeof createPageRuns>;

/** The form of one skill, and its last run. */
interface SkillRuns {
  readonly form: RunFormState;
  readonly last: Signal<RunView | undefined>;
}

const known = new WeakMap<SkillServer, PageRunState>();

export function pageRunStateOf(server: SkillServer): PageRunState {
  const found = known.get(server) ?? createPageRuns(server);
  known.set(server, found);
  return found;
}

interface Followed {
  readonly view: Signal<RunView | undefined>;
  /** The news received before the first answer about the run. */
  early: RunNews[] | undefined;
}

function createPageRuns(server: SkillServer) {
  const skills = new Map<string, SkillRuns>();
  const followed = new Map<string, Followed>();

  const of = (skill: string): SkillRuns => {
    const found = skills.get(skill) ?? { form: new RunFormState(), last: signal<RunView | undefined>(undefined) };
    skills.set(skill, found);
    return found;
  };

  function take({ view, early }: Followed, news: RunNews): void {
    if (early !== undefined) early.push(news);
    else if (view.value?.run === news.run) view.value = withNews(view.value, news);
  }

  /** Reads a run from the server: its result, and the news that the page missed. */
  async function load(run: string): Promise<void> {
    const one = followed.get(run);
    if (one === undefined) return;
    const shown = await server.run(run);
    const before = one.view.value?.run === run ? one.view.value : undefined;
    const { early } = one;
    if (early === undefined && before === undefined) return;
    one.view.value = withShown(before, shown);
    one.early = undefined;
    for (const news of early ?? []) take(one, news);
    if (isOver(shown.status)) followed.delete(run);
  }

  const refresh = (run: string): void => {
    // If the server does not answer, the connection line says so, and `reconnected` repeats this.
    load(run).catch(() => undefined);
  };

  server.on("run", (news) => {
    const one = followed.get(news.run);
    if (one === undefined) return;
    take(one, news);
    if (news.type === "ended") refresh(news.run);
  });
  server.on("reconnected", () => {
    for (const run of followed.keys()) refresh(run);
  });

  return {
    /** The form and the last run of a skill, by its id. */
    of,
    /** Starts a run. Rejects with a {@link SourceError} if it was not started. */
    async start(request: RunRequest): Promise<void> {
      const { run } = await server.startRun(request);
      const view = of(request.skill).last;
      if (view.value !== undefined) followed.delete(view.value.run);
      followed.set(run, { view, early: [] });
      await load(run);
    },
    async cancel({ run }: RunView): Promise<void> {
      await server.cancelRun(run);
      refresh(run);
    },
  };
}

/** The state of a run that the page shows. */
export interface RunView extends Pick<ShownRun, "run" | "at" | "status" | "result" | "error"> {
  readonly log: PrintedLog;
  readonly blobs: readonly OutputBlob[];
  /** The number of runs before this one in the queue. */
  readonly behind: number;
  readonly isolation?: string;
  /** The time, in milliseconds since 1970, at which the page received the end of the run. */
  readonly endedAt?: number;
}

export function isOver(status: RunState): boolean {
  return status !== "queued" && status !== "running";
}

/** Updates the view with the server's answer about the whole run. The log that the page has stays. */
function withShown(view: RunView | undefined, shown: ShownRun): RunView {
  const { printed, ...rest } = shown;
  const log = appendPrinted(view?.log ?? emptyLog, printed);
  const ended = isOver(shown.status) && { endedAt: view?.endedAt ?? Date.now() };
  return { behind: 0, ...view, ...rest, log, ...ended };
}

function withNews(view: RunView, news: RunNews): RunView {
  switch (news.type) {
    case "queued":
      return { ...view, behind: news.behind };
    case "started":
      return { ...view, status: "running", isolation: news.isolation };
    case "printed":
      return { ...view, log: appendPrinted(view.log, news) };
    case "blob":
      return view.blobs.some(({ id }) => id === news.blob.id) ? view : { ...view, blobs: [...view.blobs, news.blob] };
    case "ended":
      return { ...view, status: news.status, endedAt: Date.now() };
  }
}
