import type { Clock } from "../../../base/clock.ts";

/** What a run printed last, and telling of it now and then. */
export interface PrintedTail {
  readonly push: (text: string) => void;
  /** Tells what was not told yet. */
  readonly flush: () => void;
  /** `at`: the characters that were printed before `text`. */
  readonly read: () => { readonly at: number; readonly text: string };
}

interface PrintedTailOptions {
  readonly clock: Clock;
  /** Must not throw. */
  readonly tell: (part: { readonly at: number; readonly text: string }) => void;
}

const mostKept = 256 * 1024;
/** Ten times a second at most, so that a program which prints 64 MiB sends the page a few hundred kilobytes of it. */
const tellEveryMs = 100;
const mostTold = 32 * 1024;

/** Keeps the last 256 KiB. Of more than 32 KiB between two times of telling, only the last are told. */
export function createPrintedTail({ clock, tell }: PrintedTailOptions): PrintedTail {
  let tail = "";
  let printed = 0;
  let told = 0;
  let isWaiting = false;
  let cancel = (): void => undefined;

  function flush(): void {
    cancel();
    isWaiting = false;
    if (told === printed) return;
    const text = endOf(tail, Math.min(mostTold, printed - told));
    told = printed;
    tell({ at: printed - text.length, text });
  }

  return {
    push(text) {
      printed += text.length;
      tail += text;
      // Cut seldom, because that copies.
      if (tail.length > 2 * mostKept) tail = endOf(tail, mostKept);
      if (isWaiting || text === "") return;
      isWaiting = true;
      cancel = clock.after(tellEveryMs, flush);
    },
    flush,
    read() {
      const text = endOf(tail, mostKept);
      return { at: printed - text.length, text };
    },
  };
}

/** The last characters of a text; no half of a pair. */
function endOf(text: string, most: number): string {
  const end = text.slice(-most);
  return /^[\udc00-\udfff]/.test(end) && text.length > most ? end.slice(1) : end;
}
