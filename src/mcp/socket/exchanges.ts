/** The requests of one session that are being answered, so that they can be given up. */
export interface Exchanges {
  /** Takes part until the returned function is called. */
  enter(body: unknown): { readonly signal: AbortSignal; readonly leave: () => void; readonly abort: () => void };
  /** Gives up all of them. */
  abortAll(): void;
}

/**
 * Where every request is a connection of its own, as over HTTP before 2026-07-28, `notifications/cancelled` comes by another one
 * than the request it means. It is matched here, by the id; an id that two requests share means neither.
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
