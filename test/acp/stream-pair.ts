import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** The two ends of a connection within this process. */
export function streamPair(): [Stream, Stream] {
  const there = new TransformStream<AnyMessage, AnyMessage>();
  const back = new TransformStream<AnyMessage, AnyMessage>();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}
