import type { Clock } from "../clock.ts";

/** A way to send messages to another end, usually another thread. */
export interface Channel<Message> {
  /** Transferred buffers are moved, not copied: they become unusable here. */
  post(message: Message, transferred?: ArrayBuffer[]): void;
  /** Keeps the process alive until `letGo`. */
  hold(): void;
  letGo(): void;
  /** Ends the other end immediately. */
  end(): void;
}

/** Opens a channel, which does not keep the process alive. `ended` is called once, with the reason, when nothing more will arrive. */
export type OpenChannel<To, From> = (received: (message: From) => void, ended: (reason: string) => void) => Channel<To>;

/** Asks the other end to close by a message, and ends it if it has not within `ms`. `ended` resolves when it has ended. */
export async function closeChannel<To>(
  channel: Channel<To>,
  message: To,
  { ended, clock, ms }: { readonly ended: Promise<void>; readonly clock: Clock; readonly ms: number },
): Promise<void> {
  channel.hold();
  channel.post(message);
  const stopTimer = clock.after(ms, () => {
    channel.end();
  });
  await ended;
  stopTimer();
}
