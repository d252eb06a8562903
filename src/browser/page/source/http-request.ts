import { sessionHeader, type SignInResponse } from "../../wire/sessions.ts";
import type { BrowseError } from "../../wire/skills.ts";
import { SourceError } from "./skill-source.ts";

/** The options of a request. */
export interface ServerFetchInit extends RequestInit {
  readonly headers?: Record<string, string>;
}

/** Sends a request to a path below the server's base, and resolves with the response. */
export type ServerFetch = (path: string, init?: ServerFetchInit) => Promise<Response>;

/** Makes the function that sends requests with the session's key. It rejects with a {@link SourceError} if the response is no success. */
export function createServerFetch(base: string, onRefused: () => void): ServerFetch {
  return async (path, init = {}) => {
    const headers = { ...init.headers, ...sessionKeyHeader() };
    const sent = { credentials: "same-origin", cache: "no-cache", ...init, headers } as const;
    const response = await fetch(`${base}${path}`, sent).catch((cause: unknown) => {
      if (init.signal?.aborted === true) throw cause;
      throw new SourceError("UNREACHABLE", "The server does not answer.", "Is `acp-skills browse` still running?");
    });
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw await errorOf(response);
  };
}

/** The header with the session's key; no header on a page that the server does not serve. */
function sessionKeyHeader(): Readonly<Record<string, string>> {
  try {
    const key = sessionStorage.getItem(sessionHeader);
    return key === null ? {} : { [sessionHeader]: key };
  } catch {
    return {}; // The browser does not let this page store anything.
  }
}

/** The options of a POST request with a JSON body. */
export function jsonBody(value: unknown): ServerFetchInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

async function errorOf(response: Response): Promise<SourceError> {
  try {
    const { error } = (await response.json()) as BrowseError;
    return new SourceError(error.code, error.message, error.hint);
  } catch {
    return new SourceError("INTERNAL", `The server answered ${response.status}, without a reason.`);
  }
}

/**
 * Exchanges the one-time code in the fragment of the page's URL for a session, and removes the code from the URL and the history. A
 * refused code changes nothing: an earlier session may still be valid, and if not, the list says what to do.
 */
export async function exchangeCode(window: Window & Pick<typeof globalThis, "fetch">): Promise<void> {
  const [, code] = /^#code=([\w-]{1,200})$/.exec(window.location.hash) ?? [];
  if (code === undefined) return;
  window.history.replaceState(null, "", `${window.location.pathname}${window.location.search}`);
  try {
    const response = await window.fetch("/api/session", { ...jsonBody({ code }), credentials: "same-origin" });
    const { key } = (await response.json()) as Partial<SignInResponse>;
    // The key is stored as long as this tab is open; another tab signs in with a code of its own.
    if (response.ok && key !== undefined) sessionStorage.setItem(sessionHeader, key);
  } catch {
    // Reading the list fails likewise, and reports that.
  }
}

/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  readonly id: string;
  readonly kind: string;
  readonly data: string;
}

/** A larger event ends the stream; the list is then read again as a whole. */
const maxEventCharacters = 16 * 1024 * 1024;

/** Reads server-sent events from the body of a response. Unlike with `EventSource`, the caller sees the status of a refusal. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  let event = { id: "", kind: "message", data: "" };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (event.data !== "") yield event;
          event = { id: event.id, kind: "message", data: "" };
        } else event = withLine(event, line);
      }
      if (rest.length + event.data.length > maxEventCharacters) throw new Error("An event is too large.");
    }
  } finally {
    await reader.cancel().catch(() => undefined); // The stream may have failed already, with an error thrown above.
  }
}

function withLine(event: ServerSentEvent, line: string): ServerSentEvent {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "id") return { ...event, id: value };
  if (name === "event") return { ...event, kind: value };
  return name === "data" ? { ...event, data: event.data === "" ? value : `${event.data}\n${value}` } : event;
}
