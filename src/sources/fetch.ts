export { openFetcher } from "./fetch/open-fetcher.ts";

/** One request to another machine. */
export interface RemoteRequest {
  /** Absolute; https, or http to loopback. */
  readonly url: string;
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Most bytes of the answer. */
  readonly maxBytes: number;
  /** Milliseconds for all of it: connecting, redirects, and the body. */
  readonly timeoutMs: number;
  /** Takes a compressed answer as well, as it was sent: for a caller who knows the digest of these bytes. */
  readonly asSent?: boolean;
}

export interface RemoteAnswer {
  readonly status: number;
  /** Names in lower case; of repeated headers the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** After redirects. */
  readonly url: string;
}

/**
 * The only way to other machines: https only except to loopback, no private address unless it is allowed, every resolved
 * address checked when the connection is made, redirects followed by hand and only for GET, no cookies, no credentials but those of the
 * request, and those to its own origin only.
 */
export interface Fetcher {
  /**
   * The answer with any status. Throws ENDPOINT_UNREACHABLE (refused address, no connection, too many redirects, TLS), EXECUTION_TIMEOUT,
   * FILE_TOO_LARGE, or SOURCE_INVALID (compressed, unless `asSent`); messages name the host, never a query or a token. Rejects with the reason of `signal`.
   */
  fetch(request: RemoteRequest, signal: AbortSignal): Promise<RemoteAnswer>;
  /**
   * Whether a document from one address leads to a host that is allowed although it is private, and is itself from another kind of host: the
   * person did not mean that. Absolute URLs.
   */
  readonly leadsInside: (from: string, to: string) => boolean;
  /** Ends all connections. Idempotent. */
  close(): Promise<void>;
}
