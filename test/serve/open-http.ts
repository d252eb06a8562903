import type { App } from "../../src/runtime/app.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { type CallerConfig, type ServeConfig, defaultConfig, localCaller } from "../../src/serve/config.ts";
import { type HttpServer, serveHttp } from "../../src/serve/serve-http.ts";
import type { ListenOptions } from "../../src/serve/listen.ts";
import type { Catalog } from "../../src/skills/skillset/catalog.ts";
import type { SessionSkills } from "../../src/skills/skillset.ts";
import type { Runs } from "../../src/runtime/runs.ts";
import type { Toolbox } from "../../src/runtime/tools/toolbox.ts";
import type { Trust } from "../../src/runtime/trust.ts";
import { type OpenMcpApp, openMcpApp } from "../mcp/open-mcp-app.ts";
import { callerConfig, tokenOf } from "./caller-config.ts";

/** The token of the caller `local`, who sees everything. */
export const localToken = tokenOf(localCaller);

export interface OpenHttp extends HttpServer {
  readonly mcpApp: OpenMcpApp;
  readonly app: App;
  /** `fetch` of a path, with the token of `local` unless `token` is given; null: without credentials. */
  get(path: string, options?: RequestInit & { readonly token?: string | null }): Promise<Response>;
  /** `POST /rpc`; the parsed answer. */
  rpc(body: unknown, options?: { readonly token?: string | null }): Promise<unknown>;
}

/** HTTP over skills in memory, without an app and its disk, on a free port of loopback. */
export async function openHttp({
  skills,
  config = {},
  callers = [],
  clock = systemClock,
  project,
  host = "127.0.0.1",
  requestEnded,
  reading,
  ...rest
}: {
  readonly skills?: Readonly<Record<string, string | Uint8Array>>;
  readonly config?: Partial<ServeConfig>;
  /** Besides `local`. */
  readonly callers?: readonly CallerConfig[];
  readonly clock?: Clock;
  readonly project?: string;
  readonly host?: string;
  readonly requestEnded?: ListenOptions["requestEnded"];
  /** Until it resolves, no skills were read. */
  readonly reading?: Promise<unknown>;
  readonly runs?: Runs;
  readonly trust?: Trust;
  readonly wrap?: (toolbox: Toolbox) => Pick<Toolbox, "call">;
} = {}): Promise<OpenHttp> {
  const mcpApp = await openMcpApp(skills, { clock, ...rest });
  const ledger = { record: () => undefined };
  const app = { ...mcpApp.app, blobs: mcpApp.blobs, ledger, load: () => Promise.resolve() } as unknown as App;
  const session = {
    catalog: reading === undefined ? mcpApp.catalog : readLater(mcpApp.catalog, reading),
    directory: project,
    problems: [],
    close: () => undefined,
  };
  const server = await serveHttp(
    app,
    session,
    { ...defaultConfig, callers: [callerConfig(localCaller), ...callers], ...config },
    { host, port: 0, requestEnded },
  );
  const get: OpenHttp["get"] = async (path, { token = localToken, headers, ...init } = {}) =>
    await fetch(server.url + path, {
      ...init,
      headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...(headers as Record<string, string>) },
    });
  return {
    ...server,
    mcpApp,
    app,
    get,
    async rpc(body, { token = localToken } = {}) {
      const headers = { "content-type": "application/json" };
      const answer = await get("/rpc", { method: "POST", headers, body: JSON.stringify(body), token });
      return answer.status === 204 ? undefined : ((await answer.json()) as unknown);
    },
  };
}

function readLater(catalog: Catalog, reading: Promise<unknown>): SessionSkills["catalog"] {
  const nothing = { ...catalog.snapshot, skills: [] };
  let isRead = false;
  const ready = reading.then(() => {
    isRead = true;
    return catalog.snapshot;
  });
  return {
    ready,
    get snapshot() {
      return isRead ? catalog.snapshot : nothing;
    },
    onChange: (listener) => catalog.onChange(listener),
    find: (name) => (isRead ? catalog.find(name) : undefined),
  };
}

/** A JSON-RPC request. */
export function rpcCall(method: string, params?: object, id: unknown = 1): object {
  return { jsonrpc: "2.0", id, method, ...(params && { params }) };
}
