import type { IncomingMessage } from "node:http";

/** Bytes of one request (CONTRACT C-2.2). */
export const maxBodyBytes = 16 * 1024 * 1024;

/** The whole body; undefined if it exceeds the limit. Rejects if the client disconnects first. */
export async function readBody(request: IncomingMessage, limit: number = maxBodyBytes): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  // Not `for await`: leaving the loop early would destroy the request before it can be refused.
  return await new Promise((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve(undefined);
      }
    });
    request.on("end", () => {
      resolve(Buffer.concat(chunks));
    });
    request.on("error", reject);
    request.on("close", () => {
      reject(new Error("The client disconnected before the body was complete."));
    });
  });
}
