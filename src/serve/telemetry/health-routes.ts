import type { MountRoutes } from "../http-door.ts";

/** For everybody, because probes have no credentials. */
export const healthPaths: readonly string[] = ["/healthz", "/readyz"];

/**
 * `GET /healthz`: the process lives. `GET /readyz`: the skills were read and the server is not stopping, else 503 with the reason.
 * Neither tells what is served.
 */
export const mountHealth: MountRoutes = (routes, { session, draining }) => {
  let isRead = false;
  void session.catalog.ready.then(() => {
    isRead = true;
  });
  routes.get("/healthz", (context) => context.body(toText("ok"), 200, headers));
  routes.get("/readyz", (context) => {
    if (draining.aborted) return context.body(toText("not ready", "The server is stopping."), 503, headers);
    if (!isRead) return context.body(toText("not ready", "The skills are still being read."), 503, headers);
    return context.body(toText("ok"), 200, headers);
  });
};

const headers = { "content-type": "application/json", "cache-control": "no-store" };

function toText(status: "ok" | "not ready", reason?: string): string {
  return JSON.stringify({ status, reason });
}
