import type { OutputBlob, RunNews, RunState, ShownRun } from "../../../../wire/runs.ts";
import { appendPrinted, emptyLog, type PrintedLog } from "../log/printed-log.ts";

/** A run as the page knows it. */
export interface RunView extends Pick<ShownRun, "run" | "at" | "status" | "result" | "error"> {
  readonly log: PrintedLog;
  readonly blobs: readonly OutputBlob[];
  /** Runs before it, while it waits. */
  readonly behind: number;
  readonly isolation?: string;
  /** When the page heard that it ended. */
  readonly endedAt?: number;
}

export function isOver(status: RunState): boolean {
  return status !== "queued" && status !== "running";
}

/** The view with what the server says about the whole run: what is known of its log stays. */
export function withShown(view: RunView | undefined, shown: ShownRun, now: number): RunView {
  const { run, at, status, printed, blobs, result, error } = shown;
  const ended = isOver(status) ? { endedAt: view?.endedAt ?? now } : {};
  return {
    behind: 0,
    ...view,
    ...{ run, at, status, blobs },
    log: appendPrinted(view?.log ?? emptyLog, printed),
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
    ...ended,
  };
}

export function withNews(view: RunView, news: RunNews, now: number): RunView {
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
      return { ...view, status: news.status, endedAt: now };
  }
}
