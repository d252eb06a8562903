import { createDeferred } from "../../../base/promises.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { McpCaller, McpApp } from "../../../mcp/mcp-caller.ts";
import { type SessionServers, openSessionServers } from "../../../mcp/session-servers.ts";
import type { Settings } from "../../../runtime/options.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";
import type { EquipRequest, Reserve } from "../../skill-service.ts";
import type { OpenServers } from "./agent-tools.ts";
import { toServerEntry } from "../../messages/server-entry.ts";

/** A server that listens already. Its requests wait until the session is served. */
interface EarlyServer {
  readonly entry: JsonRecord;
  readonly reserve: Reserve;
  /** Closes the server, unless the session is served. */
  readonly drop: () => void;
}

/** The MCP servers of sessions, which listen before the tools are loaded, because an agent waits only for the address. */
export class EarlyServers {
  readonly #servers: SessionServers;
  #loaded: McpApp | undefined;

  constructor({ log, clock, version }: Settings) {
    const app = (): McpApp => {
      // No caller is served before the tools are loaded.
      if (this.#loaded === undefined) throw new SkillsError("INTERNAL", "The tools are not loaded.");
      return this.#loaded;
    };
    this.#servers = openSessionServers({
      log,
      clock,
      version,
      policyFor: (directory) => app().policyFor(directory),
      get toolbox() {
        return app().toolbox;
      },
      get source() {
        return app().source;
      },
      get hasher() {
        return app().hasher;
      },
    });
  }

  /** Opens a session's server. Undefined if the agent takes no server, or none can be opened. */
  async open({ transport, name, negotiation: { protocol } }: EquipRequest): Promise<EarlyServer | undefined> {
    if (transport === undefined) return undefined;
    const { promise, resolve } = createDeferred<McpCaller | undefined>();
    const caller = promise.then((known) => {
      if (known === undefined) throw new SkillsError("CLOSED", "The session has ended.");
      return known;
    });
    caller.catch(() => undefined);
    // A failure is reported when the tools try to open a server.
    const address = await this.#servers.open(caller, transport).catch(() => undefined);
    if (address === undefined) return undefined;
    let isServed = false;
    return {
      entry: toServerEntry(name, address, protocol),
      reserve(known) {
        isServed = true;
        resolve(known);
        return address;
      },
      drop() {
        if (isServed) return;
        resolve(undefined);
        void address.close();
      },
    };
  }

  /** Gives the servers to the tools, once those are loaded. */
  readonly forTools: OpenServers = (app) => {
    this.#loaded = app;
    return Promise.resolve(this.#servers);
  };

  close(): Promise<void> {
    return this.#servers.close();
  }
}
