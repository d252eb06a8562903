import type { App } from "../app.ts";
import { maxJsonValues } from "../base/network/json-values.ts";
import { isSkillsError } from "../errors.ts";
import type { McpDoor } from "../mcp/mcp-door.ts";
import { openHttpMcp } from "../mcp/streamable-http.ts";
import type { HttpMcp } from "../mcp/streamable-http.ts";
import { onlyPost, refuse } from "../wire/http/refusal.ts";
import { requestBytesOf } from "./admission/request-bytes.ts";
import type { ServerLimits } from "./config/serve-config.ts";
import type { Answer } from "./http-door.ts";
import type { Metrics } from "./telemetry/metrics.ts";

/** One MCP server for each caller, made at its first request. */
export function openMcpOfCallers(
  app: App,
  {
    limits,
    metrics,
  }: { readonly limits: Pick<ServerLimits, "requestBytes" | "batch">; readonly metrics: Pick<Metrics, "callEnded"> },
): { readonly answer: Answer; readonly close: () => Promise<void> } {
  const servers = new Map<string, HttpMcp>();
  const { source, hasher, log, clock, policyFor, version } = app;
  const door: McpDoor = {
    ...{ source, hasher, log, clock, policyFor, version },
    toolbox: {
      mayRead: (...given) => app.toolbox.mayRead(...given),
      async call(name, ...given) {
        const startedAt = performance.now();
        let code: string | undefined = "INTERNAL";
        try {
          const output = await app.toolbox.call(name, ...given);
          code = undefined;
          return output;
        } catch (error) {
          if (isSkillsError(error)) ({ code } = error);
          throw error;
        } finally {
          metrics.callEnded(name, code, performance.now() - startedAt);
        }
      },
    },
  };
  return {
    async answer(request, response, caller) {
      if (request.method !== "POST") {
        refuse(response, onlyPost());
        return;
      }
      let server = servers.get(caller.name);
      if (server === undefined) {
        const maxBytes = requestBytesOf(caller, limits);
        // Models call through this door.
        const isOneClient = !caller.isAnonymous;
        const options = { maxBytes, maxValues: maxJsonValues, maxBatch: limits.batch, isOneClient };
        server = openHttpMcp(door, { ...caller.tools, door: "mcp" }, options);
        servers.set(caller.name, server);
      }
      await server.answer(request, response);
    },
    async close() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}
