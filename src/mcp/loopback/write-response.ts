import type { ServerResponse } from "node:http";

/** Writes a web response, streaming its body. Resolves when all is written or the client disconnected; never rejects. */
export async function writeResponse(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) {
    response.end();
    return;
  }
  const reader = body.getReader();
  const giveUp = (): void => {
    // The stream may have failed already.
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
    // A partial response must not look complete.
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
