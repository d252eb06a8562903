import type { IncomingMessage, ServerResponse } from "node:http";
import { createMcpHandler, isJsonContentType } from "@modelcontextprotocol/server";
import type { McpRequestContext, McpServer } from "@modelcontextprotocol/server";
import type { Guarded } from "./admit-request.ts";
import { asksForInstructions, declaresSkills } from "../client-message.ts";
import { openExchanges } from "./exchanges.ts";
import type { McpCaller, McpDoor } from "../mcp-door.ts";
import { openMcpServers } from "../mcp-server.ts";
import { toTokenDigest } from "./random-token.ts";
import { maxBodyBytes, readBody } from "./read-body.ts";
import { nothingHere, refuse } from "./refusal.ts";
import { writeResponse } from "./write-response.ts";

/** One caller's MCP server, for admitted requests. */
export interface LoopbackSession extends Guarded {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Cancels running calls. */
  close(): Promise<void>;
}

export function openLoopbackSession(door: McpDoor, caller: McpCaller, token: string): LoopbackSession {
  const makeServer = openMcpServers(door, caller);
  const messages = new WeakMap<Request, unknown>();
  // Before 2026-07-28 there is no stream over which a client without a session could be notified.
  const toServer = ({ era, requestInfo }: McpRequestContext): Promise<McpServer> => {
    const message = requestInfo === undefined ? undefined : messages.get(requestInfo);
    return makeServer({
      tellsChanges: era === "modern",
      declaresSkills: declaresSkills(message),
      hasInstructions: asksForInstructions(message),
    });
  };
  const handler = createMcpHandler(toServer, {
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => {
      door.log("info", `MCP: ${error.message}`);
    },
  });
  const exchanges = openExchanges();
  const stop = caller.skills.onChange?.(() => {
    handler.notify.resourcesChanged();
  });
  let isClosed = false;

  return {
    tokenDigest: toTokenDigest(token),
    async answer(request, response) {
      // The handler refuses other types, whatever the body.
      const isJson = isJsonContentType(request.headers["content-type"] ?? null);
      const bytes = isJson ? await readBody(request) : Buffer.alloc(0);
      if (isClosed) {
        refuse(response, nothingHere);
        return;
      }
      if (bytes === undefined) {
        const message = `The request body is too large; the limit is ${maxBodyBytes} bytes.`;
        refuse(response, { status: 413, code: "INVALID_REQUEST", message });
        return;
      }
      const parsed = parse(bytes);
      if (parsed === undefined && bytes.length > 0) {
        refuse(response, { status: 400, code: "PARSE_ERROR", message: "The request body is not valid JSON." });
        return;
      }
      const { signal, leave, abort } = exchanges.enter(parsed);
      response.once("close", abort);
      try {
        const web = toWebRequest(request, signal);
        messages.set(web, parsed);
        const answered = await handler.fetch(web, parsed === undefined ? {} : { parsedBody: parsed });
        await writeResponse(response, answered);
      } finally {
        response.off("close", abort);
        leave();
      }
    },
    async close() {
      isClosed = true;
      stop?.();
      exchanges.abortAll();
      await handler.close();
    },
  };
}

/** Undefined for invalid JSON. */
function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    // The client gets a 400.
    return undefined;
  }
}

/** Without the body, which is passed on parsed. */
function toWebRequest({ headers, url = "" }: IncomingMessage, signal: AbortSignal): Request {
  const web = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") web.set(name, value);
  }
  return new Request(`http://${headers.host ?? ""}${url}`, { method: "POST", headers: web, signal });
}
