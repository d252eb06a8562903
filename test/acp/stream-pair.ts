import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** Two ends of one connection inside the process. */
export function streamPair(): [Stream, Stream] {
  const there = new TransformStream<AnyMessage, AnyMessage>();
  const back = new TransformStream<AnyMessage, AnyMessage>();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}
