import type { Clock } from "../../base/clock.ts";

/** Things that take long to make and can be used once, some of them made before they are needed. */
export interface WarmPool<Item> {
  /** One that waits, or a new one. Throws what making it throws. */
  take(): Promise<Item>;
  /** Makes what is missing, for whoever comes next. To be called when nobody is waiting for anything. */
  refill(): void;
  /** Ends those that wait and those being made; nothing is made for stock from then on. */
  close(): Promise<void>;
}

export interface PoolOptions<Item> {
  readonly size: number;
  readonly idleMs: number;
  readonly clock: Clock;
  make(warm: boolean): Promise<Item>;
  /** Still good? One that died while it waited is discarded. */
  isAlive(item: Item): boolean;
  discard(item: Item): Promise<void>;
  /** Making one for stock failed; must not throw. */
  failed(error: unknown): void;
}

export function openWarmPool<Item>(options: PoolOptions<Item>): WarmPool<Item> {
  const { size, idleMs, clock } = options;
  const waiting: Item[] = [];
  const busy = new Set<Promise<void>>();
  let making = 0;
  /** Nobody came for a while: nothing is kept in stock. */
  let idle = true;
  let closed = false;
  let cancelDrain = (): void => undefined;

  const track = (work: Promise<void>): void => {
    const tracked = work.catch((error: unknown) => options.failed(error)).finally(() => busy.delete(tracked));
    busy.add(tracked);
  };
  const drain = (): void => {
    idle = true;
    for (const item of waiting.splice(0)) track(options.discard(item));
  };
  /** One after the other: they compete with what runs. */
  const fill = async (): Promise<void> => {
    making += 1;
    try {
      const item = await options.make(true);
      if (closed || idle) await options.discard(item);
      else waiting.push(item);
    } finally {
      making -= 1;
    }
    restock();
  };
  const restock = (): void => {
    if (!closed && !idle && making === 0 && waiting.length < size) track(fill());
  };

  return {
    async take() {
      cancelDrain();
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        if (options.isAlive(item)) return item;
        track(options.discard(item));
      }
      return options.make(false);
    },
    refill() {
      cancelDrain();
      if (closed) return;
      idle = false;
      cancelDrain = clock.after(idleMs, drain);
      restock();
    },
    async close() {
      closed = true;
      cancelDrain();
      drain();
      while (busy.size > 0) await Promise.all(busy);
    },
  };
}
