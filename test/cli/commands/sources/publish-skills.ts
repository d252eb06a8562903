import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { toTarGz } from "../../../../src/sources/archive.ts";

type Files = Readonly<Record<string, string>>;

export interface Publisher {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Publishes these skills from now on, by Agent Skills discovery 0.2, each as an archive, under a path that ends with a slash. */
  readonly publish: (skills: Readonly<Record<string, Files>>, path?: string) => Promise<void>;
  /** The paths that were asked for. */
  readonly asked: string[];
  readonly close: () => Promise<void>;
}

/** A server on loopback that publishes skills; it is closed after each test. */
export function usePublisher(): () => Promise<Publisher> {
  const open: Publisher[] = [];
  afterEach(async () => {
    for (const publisher of open.splice(0)) await publisher.close();
  });
  return async () => {
    const publisher = await openPublisher();
    open.push(publisher);
    return publisher;
  };
}

async function openPublisher(): Promise<Publisher> {
  let answers = new Map<string, Uint8Array>();
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const body = answers.get(url);
    response.writeHead(body === undefined ? 404 : 200, { connection: "close" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    publish: async (skills, path = "/") => {
      answers = new Map();
      const entries = [];
      for (const [name, files] of Object.entries(skills)) {
        const archive = await toTarGz(
          Object.entries(files).map(([file, text]) => ({
            path: file,
            bytes: Buffer.from(text),
            executable: file.endsWith(".sh"),
          })),
        );
        const digest = `sha256:${createHash("sha256").update(archive).digest("hex")}`;
        answers.set(`${path}.well-known/agent-skills/${name}.tar.gz`, archive);
        entries.push({ name, type: "archive", description: `Does ${name}.`, url: `${name}.tar.gz`, digest });
      }
      const index = { $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json", skills: entries };
      answers.set(`${path}.well-known/agent-skills/index.json`, Buffer.from(JSON.stringify(index)));
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
