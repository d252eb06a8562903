/** A way to what runs at the other end, usually on another thread. */
export interface Channel<Message> {
  /** The other end gets what is transferred as it is, and it is gone here. */
  post(message: Message, transferred?: ArrayBuffer[]): void;
  /** Keeps the process alive, until it is let go, for what the other end still has to say. */
  hold(): void;
  letGo(): void;
  /** Ends the other end, whatever it is doing. */
  end(): void;
}

/** Opens a channel, which holds nobody's process. `ended` is called once, with the reason, when nothing more will come. */
export type OpenChannel<To, From> = (received: (message: From) => void, ended: (reason: string) => void) => Channel<To>;
