import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An object store in memory that fails as a test wants: the answer to a request, or undefined for the right one. */
export interface FakeS3 {
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  readonly requests: string[];
  fault: (request: IncomingMessage, response: ServerResponse, bytes: Buffer | undefined) => boolean;
  close(): Promise<void>;
}

export async function openFakeS3(): Promise<FakeS3> {
  process.env["AWS_ACCESS_KEY_ID"] = "me";
  process.env["AWS_SECRET_ACCESS_KEY"] = "secret";
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const fake: FakeS3 = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket/some/folder?above=65536`,
    objects,
    requests,
    fault: () => false,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return fake;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const name = (request.url ?? "").split("?")[0] ?? "";
    requests.push(`${request.method} ${name}`);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const bytes = objects.get(name)?.subarray(Number(from ?? 0), Number(to ?? Infinity) + 1);
    if (fake.fault(request, response, bytes)) return;
    if (request.method === "PUT") {
      objects.set(name, Buffer.concat(parts));
      response.end();
    } else if (request.method === "DELETE") {
      objects.delete(name);
      response.writeHead(204).end();
    } else if (request.url?.includes("list-type=2") === true) {
      response.end("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
    } else if (bytes === undefined) {
      response.writeHead(404, { "content-type": "application/xml" });
      response.end("<Error><Code>NoSuchKey</Code><Message>none</Message></Error>");
    } else {
      response.writeHead(206, { "content-length": bytes.length });
      response.end(bytes);
    }
  }
}
