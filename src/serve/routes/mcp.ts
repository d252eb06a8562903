import { maxJsonValues } from "../../base/json/json-value.ts";
import { isSkillsError } from "../../base/errors.ts";
import type { McpApp } from "../../mcp/mcp-caller.ts";
import { type HttpMcp, openHttpMcp } from "../../mcp/streamable-http.ts";
import type { HttpCaller, HttpRoute, ServeContext } from "../serve-context.ts";

/** `POST /mcp`: one MCP server for each caller, created at its first request. `forget` closes the servers of callers that are gone. */
export function openMcpOfCallers({ app, config, metrics }: Pick<ServeContext, "app" | "config" | "metrics">): {
  readonly route: HttpRoute;
  readonly forget: (callers: readonly HttpCaller[]) => void;
  readonly close: () => Promise<void>;
} {
  const servers = new Map<HttpCaller, HttpMcp>();
  const { source, hasher, log, clock, policyFor, version } = app;
  const mcpApp: McpApp = {
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

  function serverOf(caller: HttpCaller): HttpMcp {
    const known = servers.get(caller);
    if (known !== undefined) return known;
    const options = {
      maxBytes: caller.requestBytes,
      maxValues: maxJsonValues,
      maxBatch: config.limits.batch,
      isOneClient: !caller.isAnonymous,
    };
    // Calls of this transport come from models.
    const server = openHttpMcp(mcpApp, { ...caller.tools, transport: "mcp" }, options);
    servers.set(caller, server);
    return server;
  }

  return {
    route: {
      method: "POST",
      path: "/mcp",
      isIndependent: true,
      async answer({ request, response, caller, limiter }) {
        await serverOf(caller).answer(request, response, (calls) => limiter?.take(calls));
        return undefined;
      },
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
