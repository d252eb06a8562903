import type { Clock } from "../../../base/clock.ts";

/** The last part of what a run printed, sent to pages at intervals. */
export interface PrintedTail {
  readonly push: (text: string) => void;
  /** Sends what was not sent yet. */
  readonly flush: () => void;
  /** `at`: the characters that were printed before `text`. */
  readonly read: () => { readonly at: number; readonly text: string };
}

interface PrintedTailOptions {
  readonly clock: Clock;
  /** Must not throw. */
  readonly notify: (part: { readonly at: number; readonly text: string }) => void;
}

const mostRetained = 256 * 1024;
/** Ten times a second at most, so that a program which prints 64 MiB sends the page a few hundred kilobytes of it. */
const sendEveryMs = 100;
const mostSent = 32 * 1024;

/** Retains the last 256 KiB. Of more than 32 KiB between two notifications, only the last part is sent. */
export function createPrintedTail({ clock, notify }: PrintedTailOptions): PrintedTail {
  let tail = "";
  let printed = 0;
  let sent = 0;
  let isWaiting = false;
  let cancel = (): void => undefined;

  function flush(): void {
    cancel();
    isWaiting = false;
    if (sent === printed) return;
    const text = endOf(tail, Math.min(mostSent, printed - sent));
    sent = printed;
    notify({ at: printed - text.length, text });
  }

  return {
    push(text) {
      printed += text.length;
      tail += text;
      // Cut seldom, because that copies.
      if (tail.length > 2 * mostRetained) tail = endOf(tail, mostRetained);
      if (isWaiting || text === "") return;
      isWaiting = true;
      cancel = clock.after(sendEveryMs, flush);
    },
    flush,
    read() {
      const text = endOf(tail, mostRetained);
      return { at: printed - text.length, text };
    },
  };
}

/** The last characters of a text; no half of a pair. */
function endOf(text: string, most: number): string {
  const end = text.slice(-most);
  return /^[\udc00-\udfff]/.test(end) && text.length > most ? end.slice(1) : end;
}
