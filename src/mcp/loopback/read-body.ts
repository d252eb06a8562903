import type { IncomingMessage } from "node:http";

/** Bytes of one request (CONTRACT C-2.2). */
export const maxBodyBytes = 16 * 1024 * 1024;

/** The whole body; undefined when it is longer than may be. Rejects when the client goes away before its end. */
export async function readBody(request: IncomingMessage, limit: number = maxBodyBytes): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  // Not `for await`: leaving it early would destroy the request, and the refusal with it.
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
      reject(new Error("The request ended before its body did."));
    });
  });
}
