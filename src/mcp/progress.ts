import type { ServerContext } from "@modelcontextprotocol/server";
import type { Log } from "../base/log.ts";
import type { RunListener } from "../wire/run-event.ts";

/** Sends the output of a run, and that it waits for others, as progress to a client that asked for it. */
export function toProgress(
  progressToken: string | number,
  notify: ServerContext["mcpReq"]["notify"],
  log: Log,
): RunListener {
  let progress = 0;
  const send = (message: string): void => {
    const params = { progressToken, progress: ++progress, message };
    notify({ method: "notifications/progress", params }).catch((error: unknown) =>
      log("info", `A progress notification could not be sent: ${String(error)}`),
    );
  };
  return (event) => {
    if (event.type === "queued" && event.behind > 0) send("Waiting for other runs to end.\n");
    if (event.type === "printed") send(event.text);
  };
}
