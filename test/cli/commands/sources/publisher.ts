import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach } from "vitest";

export interface Publisher {
  readonly url: string;
  /** What each path answers, as JSON; others answer 404. */
  pages: Record<string, unknown>;
}

/** A server on loopback for each test. */
export function usePublisher(): Publisher {
  const publisher = { url: "", pages: {} as Record<string, unknown> };
  const server = createServer((request, response) => {
    const page = publisher.pages[request.url ?? ""];
    if (typeof page === "number" || page === undefined) response.writeHead(page ?? 404).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(page));
  });
  beforeEach(async () => {
    publisher.pages = {};
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    publisher.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return publisher;
}

const protocol = { version: "1.0.0" };

/** An index of Skill Sharing with these skills: their names and types. */
export function sharingIndex(skills: Readonly<Record<string, string>>, description = "Does it."): object {
  const entries = Object.entries(skills).map(([name, type]) => ({
    id: `com.example.${name}-v1`,
    name,
    capability_type: type,
    description,
    descriptor_url: `/skills/${name}/descriptor.json`,
    access: "public",
    version: "1.2.0",
  }));
  return { protocol, provider: { name: "Example" }, skills: entries };
}

export function descriptorOf(name: string, type: string, more: object = {}): object {
  return {
    protocol,
    id: `com.example.${name}-v1`,
    name,
    version: "1.2.0",
    capability_type: type,
    description: "Does it.",
    provider: { name: "Example" },
    endpoint: { url: `/skills/${name}.tar.gz`, method: type === "api" ? "POST" : "GET" },
    inputs: {},
    output: {},
    auth: { type: "none" },
    access: "public",
    ...more,
  };
}
