// Two ends of one connection inside a process, for the examples that need no other process.

/** @import { AnyMessage } from "@agentclientprotocol/sdk" */

/**
 * @template [Message=AnyMessage]
 * @typedef {{ readable: ReadableStream<Message>, writable: WritableStream<Message> }} End
 */

/**
 * @template [Message=AnyMessage]
 * @returns {[End<Message>, End<Message>]}
 */
export function streamPair() {
  /** @type {TransformStream<Message, Message>} */
  const there = new TransformStream();
  /** @type {TransformStream<Message, Message>} */
  const back = new TransformStream();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}
