import type { BrowseError } from "../../wire/browse/skills.ts";
import { SourceError } from "./source-error.ts";

/** One exchange with the server: a path below its base, and what `fetch` takes. */
export type Exchange = (path: string, init?: RequestInit) => Promise<Response>;

/** Adds the base and what every request needs; a response that is not a success becomes a {@link SourceError}. */
export function createExchange(base: string, fetch: typeof globalThis.fetch, onRefused: () => void): Exchange {
  return async (path, init = {}) => {
    const response = await fetch(`${base}${path}`, { credentials: "same-origin", cache: "no-cache", ...init }).catch(
      (cause: unknown) => {
        if (init.signal?.aborted === true) throw cause;
        throw new SourceError("UNREACHABLE", "The server does not answer.", "Is `acp-skills browse` still running?");
      },
    );
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw await errorOf(response);
  };
}

/** What is sent as JSON. */
export function jsonBody(value: unknown): RequestInit {
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
