import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Settings } from "../../runtime/options.ts";
import { metricsContentType } from "../../wire/metric.ts";
import { connectMember } from "../open-cluster.ts";
import { clusterMetrics } from "./cluster-metrics.ts";

/** The HTTP server for the probes of a worker. */
export interface WorkerMonitor {
  readonly url: string;
  /** Closes without waiting for requests. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens `/healthz`, `/readyz` and `/metrics` for a worker, also during an outage of the database. No answer reveals what the worker
 * executes. Rejects with INVALID_OPTIONS, and with the error of the system if it cannot listen.
 */
export async function openWorkerMonitor(
  settings: Settings,
  { host, port, isReady }: { readonly host: string; readonly port: number; readonly isReady: () => boolean },
): Promise<WorkerMonitor> {
  const database = await connectMember(settings, 1);
  const metrics = clusterMetrics(database, settings.clock);
  const answers: Readonly<Record<string, () => Promise<readonly [number, string]> | readonly [number, string]>> = {
    "/healthz": () => [200, "ok\n"],
    "/readyz": () => (isReady() ? [200, "ok\n"] : [503, "It takes no runs.\n"]),
    "/metrics": async () => [200, await metrics()],
  };
  const server = createServer({ requestTimeout: 5_000, maxHeaderSize: 8_192 }, (request, response) => {
    const { method = "", url = "" } = request;
    request.resume();
    const send = ([status, body]: readonly [number, string]): void =>
      void response
        .writeHead(status, { "content-type": metricsContentType, "cache-control": "no-store", connection: "close" })
        .end(body);
    if (method !== "GET" && method !== "HEAD") send([405, "Method not allowed; use GET.\n"]);
    else void Promise.resolve(answers[url]?.() ?? ([404, "Not found.\n"] as const)).then(send);
  });
  server.maxConnections = 32;
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    await database.close();
    throw error;
  }
  const { port: opened } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${opened}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await database.close();
    },
  };
}
