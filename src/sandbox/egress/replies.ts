import { STATUS_CODES } from "node:http";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Also used as the reason phrase, which is all that clients show when a CONNECT fails. */
export function refusal(why: string): string {
  return `Refused by the sandbox: ${why}`;
}

/** Responds to a plain request. `text` must be printable ASCII. */
export function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, phrase(status, text), { "content-type": "text/plain; charset=utf-8" });
  response.end(`${text}.\n`);
}

/** Responds to a CONNECT that fails. */
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
