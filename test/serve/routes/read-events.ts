import { type IncomingMessage, request } from "node:http";

interface ReadEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** A client of an event stream. */
export interface EventClient {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** What has arrived so far. */
  readonly events: ReadEvent[];
  readonly comments: () => number;
  readonly text: () => string;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  readonly leave: () => void;
}

/** Connects, and reads until the stream ends. */
export async function readEvents(
  url: string,
  { token, lastEventId }: { readonly token?: string | undefined; readonly lastEventId?: string | undefined } = {},
): Promise<EventClient> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    request(`${url}/events`, { headers, agent: false }, resolve).once("error", reject).end();
  });
  const events: ReadEvent[] = [];
  let text = "";
  let rest = "";
  response.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, id, type, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (id !== undefined) events.push({ id, type: type!, data: JSON.parse(data!) as Record<string, unknown> });
    }
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments: () => text.split("\n\n").filter((block) => block.startsWith(":")).length,
    text: () => text,
    ended: new Promise((resolve) => response.once("close", resolve)),
    leave: () => response.destroy(),
  };
}
