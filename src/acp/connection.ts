import type { Settings } from "../options.ts";
import type { Skillset } from "../skillset.ts";
import { type AgentTools, openAgentTools } from "./agent-tools.ts";
import { type Interceptor, type InterceptorOptions, openInterceptor } from "./interceptor.ts";
import { readInstructions } from "./read-instructions.ts";

/** An interceptor beside the tools that it serves. */
export interface Connection extends Omit<Interceptor, "close"> {
  /** Nothing is sent after it; resolves when what was served is gone. May be called more than once; never rejects. */
  readonly close: () => Promise<void>;
}

/** What every mount opens for a connection, to put our own messages on their way. */
export function openConnection(
  skillset: Skillset,
  settings: Settings,
  outlets: Pick<InterceptorOptions, "send" | "reply">,
  tools: AgentTools | undefined = settings.tools === "none" ? undefined : openAgentTools(settings),
): Connection {
  const options = { skillset, settings, tools, readInstructions, startedAt: Date.now() };
  const interceptor = openInterceptor({ ...options, ...outlets });
  return {
    ...interceptor,
    async close() {
      interceptor.close();
      await tools?.close();
    },
  };
}
