/** Requests that wait for a response, by id; a string and a number are different ids. */
export interface PendingRequests<Request> {
  readonly isEmpty: boolean;
  add(id: string | number, request: Request): void;
  /** Takes the oldest request with this id: an editor may reuse an id. */
  take(id: string | number): Request | undefined;
  takeAll(): readonly Request[];
}

/** Holds at most `limit` requests: beyond that, the oldest is dropped and passed to `forgotten`. */
export function openPendingRequests<Request>(
  limit: number,
  forgotten: (request: Request) => void,
): PendingRequests<Request> {
  let waiting: { readonly id: string | number; readonly request: Request }[] = [];
  return {
    get isEmpty() {
      return waiting.length === 0;
    },
    add(id, request) {
      waiting.push({ id, request });
      if (waiting.length <= limit) return;
      const oldest = waiting.shift();
      if (oldest !== undefined) forgotten(oldest.request);
    },
    take(id) {
      const index = waiting.findIndex((entry) => entry.id === id);
      return index === -1 ? undefined : waiting.splice(index, 1)[0]?.request;
    },
    takeAll() {
      const all = waiting.map(({ request }) => request);
      waiting = [];
      return all;
    },
  };
}
