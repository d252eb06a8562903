import type { BrowseSessionResponse } from "../../wire/session.ts";
import { jsonBody, storeSessionKey } from "./http-request.ts";

/**
 * Exchanges the one-time code in the fragment of the page's address for a session, and removes it from the address and the history. A code
 * that the server refuses changes nothing: an earlier session may still be valid, and if not, the list says what to do.
 */
export async function exchangeCode(window: Window & Pick<typeof globalThis, "fetch">): Promise<void> {
  const [, code] = /^#code=([\w-]{1,200})$/.exec(window.location.hash) ?? [];
  if (code === undefined) return;
  window.history.replaceState(null, "", `${window.location.pathname}${window.location.search}`);
  try {
    const response = await window.fetch("/api/session", { ...jsonBody({ code }), credentials: "same-origin" });
    if (response.ok) storeSessionKey(((await response.json()) as BrowseSessionResponse).key);
  } catch {
    // The list fails likewise.
  }
}
