/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  readonly id: string;
  readonly kind: string;
  readonly data: string;
}

/** An event larger than this ends the stream: the list is then read again as a whole. */
const maxEventCharacters = 16 * 1024 * 1024;

/** Reads server-sent events from the body of a response. Unlike `EventSource`, whoever fetched it sees the status of a refusal. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  let event = { id: "", kind: "message", data: "" };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (event.data !== "") yield event;
          event = { id: event.id, kind: "message", data: "" };
        } else event = withLine(event, line);
      }
      if (rest.length + event.data.length > maxEventCharacters) throw new Error("An event is too large.");
    }
  } finally {
    await reader.cancel().catch(() => undefined); // It may have failed already, which was thrown above.
  }
}

function withLine(event: ServerSentEvent, line: string): ServerSentEvent {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "id") return { ...event, id: value };
  if (name === "event") return { ...event, kind: value };
  return name === "data" ? { ...event, data: event.data === "" ? value : `${event.data}\n${value}` } : event;
}
