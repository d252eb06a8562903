import { STATUS_CODES } from "node:http";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The sentence for what no entry allows. Clients of tunnels show nothing but the reason phrase: so it holds the sentence as well. */
export function refusal(why: string): string {
  return `Refused by the sandbox: ${why}`;
}

/** Answers a plain request ourselves. `text` is printable ASCII. */
export function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, phrase(status, text), { "content-type": "text/plain; charset=utf-8" });
  response.end(`${text}.\n`);
}

/** Answers a CONNECT that does not become a tunnel. */
export function answerConnect(client: Duplex, status: number, text: string): void {
  const body = `${text}.\n`;
  client
    .resume()
    .end(
      `HTTP/1.1 ${status} ${phrase(status, text)}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
        `content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
}

function phrase(status: number, text: string): string {
  return status === 403 ? text : (STATUS_CODES[status] ?? "");
}
