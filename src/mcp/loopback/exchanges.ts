/** The running requests of one session, so that they can be cancelled. */
export interface Exchanges {
  /** Adds a request, until `leave` is called. */
  enter(body: unknown): { readonly signal: AbortSignal; readonly leave: () => void; readonly abort: () => void };
  /** Cancels all of them. */
  abortAll(): void;
}

/**
 * Over HTTP before 2026-07-28, `notifications/cancelled` arrives in another request than the one it cancels. It is matched by id; an id that
 * two requests share cancels neither.
 */
export function openExchanges(): Exchanges {
  const running = new Map<AbortController, unknown>();
  return {
    enter(body) {
      const cancelled = cancelledId(body);
      if (cancelled !== undefined) {
        const meant = [...running].filter(([, id]) => id === cancelled);
        if (meant.length === 1) meant[0]?.[0].abort();
      }
      const controller = new AbortController();
      running.set(controller, requestId(body));
      return {
        signal: controller.signal,
        leave: () => void running.delete(controller),
        abort: () => {
          controller.abort();
        },
      };
    },
    abortAll() {
      for (const controller of running.keys()) controller.abort();
      running.clear();
    },
  };
}

function requestId(body: unknown): unknown {
  return isObject(body) && "method" in body ? body.id : undefined;
}

function cancelledId(body: unknown): unknown {
  return isObject(body) && body.method === "notifications/cancelled" && isObject(body.params)
    ? body.params.requestId
    : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
