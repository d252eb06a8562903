import type { ServerResponse } from "node:http";

/** Writes a web response, a stream as it comes. Resolves when everything was taken, or the client is gone; never rejects. */
export async function writeResponse(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) {
    response.end();
    return;
  }
  const reader = body.getReader();
  const giveUp = (): void => {
    // The stream may have failed already, and there is nobody left to tell.
    reader.cancel().catch(() => undefined);
  };
  response.once("close", giveUp);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || response.destroyed) break;
      if (!response.write(value)) await drained(response);
    }
    response.off("close", giveUp).end();
  } catch {
    // Half an answer must not look like a whole one.
    response.destroy();
  }
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}
