import type { Clock } from "../../../base/clock.ts";

/** `at`: the characters that were printed before `text`. */
interface PrintedPart {
  readonly at: number;
  readonly text: string;
}

const mostRetained = 256 * 1024;
/** Ten times a second at most, so that a program which prints 64 MiB sends the page a few hundred kilobytes of it. */
const sendEveryMs = 100;
const mostSent = 32 * 1024;

/**
 * The last 256 KiB of what a run printed, sent to pages at intervals. Of more than 32 KiB between two notifications, only the last part is sent.
 */
export class PrintedTail {
  readonly #clock: Clock;
  readonly #notify: (part: PrintedPart) => void;
  #tail = "";
  #printed = 0;
  #sent = 0;
  #cancel: (() => void) | undefined;

  /** `notify` must not throw. */
  constructor(clock: Clock, notify: (part: PrintedPart) => void) {
    this.#clock = clock;
    this.#notify = notify;
  }

  push(text: string): void {
    this.#printed += text.length;
    this.#tail += text;
    // Cut seldom, because that copies.
    if (this.#tail.length > 2 * mostRetained) this.#tail = this.read().text;
    if (text !== "") this.#cancel ??= this.#clock.after(sendEveryMs, () => this.flush());
  }

  /** Sends what was not sent yet. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#sent !== this.#printed) this.#notify(this.read(Math.min(mostSent, this.#printed - this.#sent)));
    this.#sent = this.#printed;
  }

  /** The last characters; no half of a pair. */
  read(most = mostRetained): PrintedPart {
    const end = this.#tail.slice(-most);
    const text = /^[\udc00-\udfff]/.test(end) && this.#tail.length > most ? end.slice(1) : end;
    return { at: this.#printed - text.length, text };
  }
}
