import { request } from "node:http";
import type { LoopbackAddress } from "../../src/mcp/session-servers/loopback-server.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  /** The JSON-RPC message of the response, sent as JSON or as an event. */
  readonly message: { readonly id?: unknown; readonly result?: Record<string, unknown>; readonly error?: RawError };
}

interface RawError {
  readonly code: number;
  readonly message: string;
  readonly data?: Record<string, unknown>;
}

export interface RawOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Sent as the body without encoding. */
  readonly text?: string | Buffer;
}

/** Sends an HTTP request without what a client library would add or reject. An undefined header is omitted. */
export async function rawRequest(address: LoopbackAddress, options: RawOptions = {}): Promise<RawAnswer> {
  const { hostname, port, pathname } = new URL(address.url);
  const given = {
    ...address.headers,
    host: `${hostname}:${port}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...options.headers,
  };
  const headers: NodeJS.Dict<string> = {};
  for (const [name, value] of Object.entries<string | undefined>(given)) if (value !== undefined) headers[name] = value;
  return await new Promise((resolve, reject) => {
    const { method = "POST", path = pathname } = options;
    const sent = request({ host: hostname, port, method, path, headers, setHost: false, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, message: toMessage(text) });
      });
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body)));
  });
}

function toMessage(text: string): RawAnswer["message"] {
  const json = /^data: ?(.*)$/m.exec(text)?.[1] ?? text;
  return json.startsWith("{") ? (JSON.parse(json) as RawAnswer["message"]) : {};
}

/** A request of a client before 2026-07-28. */
export function legacyCall(tool: string, args: object, id: unknown = 1): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: args } };
}

/** The capabilities of a client that supports the Skills extension. */
export const speaksSkills = { extensions: { "io.modelcontextprotocol/skills": {} } };

/** A request of 2026-07-28, with its revision and client in `_meta` and repeated in headers. */
export function modernRequest(
  method: string,
  params: Record<string, unknown> = {},
  clientCapabilities: object = {},
): Required<Pick<RawOptions, "body" | "headers">> {
  const revision = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
  };
  const name = params.name ?? params.uri;
  return {
    body: { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: meta } },
    headers: {
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
  };
}
