// Two ends of one connection inside a process, for the examples that need no other process.

/** @import { AnyMessage, Stream } from "@agentclientprotocol/sdk" */

/** @returns {[Stream, Stream]} */
export function streamPair() {
  /** @type {TransformStream<AnyMessage, AnyMessage>} */
  const there = new TransformStream();
  /** @type {TransformStream<AnyMessage, AnyMessage>} */
  const back = new TransformStream();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}
