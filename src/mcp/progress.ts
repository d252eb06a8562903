import type { Log } from "../base/log.ts";
import type { RunListener } from "../runs/run-event.ts";

interface ProgressNotification {
  readonly method: "notifications/progress";
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly message: string };
}

/** The id of a call in the client's editor; Claude's clients send it. */
export function toolCallIdIn(meta: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const id = meta?.["claudecode/toolUseId"];
  return typeof id === "string" ? id : undefined;
}

/** Sends the output of a run, and that it waits for others, as progress to a client that asked for it; undefined for other clients. */
export function tellProgress(
  progressToken: string | number | undefined,
  notify: (notification: ProgressNotification) => Promise<void>,
  log: Log,
): RunListener | undefined {
  if (progressToken === undefined) return undefined;
  let progress = 0;
  const send = (message: string): void => {
    progress += 1;
    notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(
      (error: unknown) => {
        log("info", `A progress notification could not be sent: ${String(error)}`);
      },
    );
  };
  return (event) => {
    if (event.type === "queued" && event.behind > 0) send("Waiting for other runs to end.\n");
    if (event.type === "printed") send(event.text);
  };
}
