import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import type { BridgeTarget } from "./bridge-environment.ts";
import { readEvents } from "./event-stream.ts";

/** What came back for one message: at most one JSON text over JSON, any number over a stream. */
export interface Posted {
  readonly status: number;
  readonly texts: AsyncIterable<string>;
}

/** An agent of our own: the global one may send requests, and the token with them, through a proxy that the environment names. */
const direct = new Agent({ keepAlive: false });

/** Posts one message. Rejects when nobody answers, and when `signal` says so. */
export async function postMessage(
  { url, authorization }: BridgeTarget,
  text: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Posted> {
  const body = Buffer.from(text, "utf8");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      agent: direct,
      signal,
      headers: {
        ...headers,
        authorization,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "content-length": body.length,
      },
    });
    sent.once("response", resolve).once("error", reject).end(body);
  });
  const isStream = response.headers["content-type"]?.startsWith("text/event-stream") === true;
  return { status: response.statusCode ?? 0, texts: isStream ? readEvents(response) : readText(response) };
}

async function* readText(response: IncomingMessage): AsyncGenerator<string, void> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  if (text !== "") yield text;
}
