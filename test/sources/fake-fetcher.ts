import type { Fetcher, RemoteAnswer, RemoteRequest } from "../../src/sources/fetch.ts";

type Page = Partial<Omit<RemoteAnswer, "body">> & { readonly body?: unknown };

export interface FakeFetcher extends Fetcher {
  /** URLs in the order of the requests. */
  readonly asked: string[];
  readonly requests: RemoteRequest[];
}

/** A web of these pages, by URL; bodies that are not texts are sent as JSON. Other addresses answer 404, and errors are thrown. */
export function fakeFetcher(pages: Readonly<Record<string, Page | Error>>): FakeFetcher {
  const requests: RemoteRequest[] = [];
  const asked: string[] = [];
  return {
    asked,
    requests,
    async fetch(request, signal): Promise<RemoteAnswer> {
      await Promise.resolve();
      signal.throwIfAborted();
      requests.push(request);
      asked.push(request.url);
      const page = pages[request.url] ?? { status: 404, body: "not found" };
      if (page instanceof Error) throw page;
      const { status = 200, headers = {}, url = request.url, body = "" } = page;
      const isKnown = headers["etag"] !== undefined && request.headers?.["if-none-match"] === headers["etag"];
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const bytes = isKnown ? new Uint8Array() : body instanceof Uint8Array ? body : new TextEncoder().encode(text);
      return { status: isKnown ? 304 : status, headers, url, body: bytes };
    },
    leadsInside: () => false,
    close: () => Promise.resolve(),
  };
}
