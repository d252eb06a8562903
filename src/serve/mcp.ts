import { maxJsonValues } from "../base/json/json-value.ts";
import { isSkillsError } from "../base/errors.ts";
import type { McpApp } from "../mcp/mcp-caller.ts";
import { type HttpMcp, openHttpMcp } from "../mcp/streamable-http.ts";
import { onlyPost, refuse } from "../wire/http/refusal.ts";
import type { HttpCaller, HttpRequestListener, HttpDoor } from "./http-door.ts";

/** One MCP server for each caller, made at its first request. `forget` ends those of callers that are gone. */
export function openMcpOfCallers({ app, config, metrics }: Pick<HttpDoor, "app" | "config" | "metrics">): {
  readonly answer: HttpRequestListener;
  readonly forget: (callers: readonly HttpCaller[]) => void;
  readonly close: () => Promise<void>;
} {
  const servers = new Map<HttpCaller, HttpMcp>();
  const { source, hasher, log, clock, policyFor, version } = app;
  const door: McpApp = {
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
    async answer(request, response, caller, take) {
      if (request.method !== "POST") {
        refuse(response, onlyPost());
        return;
      }
      let server = servers.get(caller);
      if (server === undefined) {
        // Models call through this door.
        const options = {
          maxBytes: caller.requestBytes,
          maxValues: maxJsonValues,
          maxBatch: config.limits.batch,
          isOneClient: !caller.isAnonymous,
        };
        server = openHttpMcp(door, { ...caller.tools, door: "mcp" }, options);
        servers.set(caller, server);
      }
      await server.answer(request, response, take);
    },
    forget(callers) {
      for (const caller of callers) {
        servers
          .get(caller)
          ?.close()
          .catch((error: unknown) => log("warning", `An MCP server was not closed: ${String(error)}`));
        servers.delete(caller);
      }
    },
    async close() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}
