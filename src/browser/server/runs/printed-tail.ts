import type { Clock } from "../../../base/clock.ts";

/** The last part of what a run printed, sent to pages at intervals. */
export interface PrintedTail {
  readonly push: (text: string) => void;
  /** Sends what was not sent yet. */
  readonly flush: () => void;
  readonly read: () => PrintedPart;
}

/** `at`: the characters that were printed before `text`. */
interface PrintedPart {
  readonly at: number;
  readonly text: string;
}

interface PrintedTailOptions {
  readonly clock: Clock;
  /** Must not throw. */
  readonly notify: (part: PrintedPart) => void;
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
  let cancel: (() => void) | undefined;

  /** The last characters; no half of a pair. */
  function last(most: number): PrintedPart {
    const end = tail.slice(-most);
    const text = /^[\udc00-\udfff]/.test(end) && tail.length > most ? end.slice(1) : end;
    return { at: printed - text.length, text };
  }

  function flush(): void {
    cancel?.();
    cancel = undefined;
    if (sent !== printed) notify(last(Math.min(mostSent, printed - sent)));
    sent = printed;
  }

  return {
    push(text) {
      printed += text.length;
      tail += text;
      // Cut seldom, because that copies.
      if (tail.length > 2 * mostRetained) tail = last(mostRetained).text;
      if (text !== "") cancel ??= clock.after(sendEveryMs, flush);
    },
    flush,
    read: () => last(mostRetained),
  };
}
