import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { sha256 } from "./artifacts.ts";

const indexType = "application/vnd.oci.image.index.v1+json";

interface Stored {
  readonly bytes: Buffer;
  readonly type: string;
}

export interface FakeRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** By `REPO/NAME`: manifests under their tags and digests. */
  readonly manifests: Map<string, Stored>;
  readonly blobs: Map<string, Buffer>;
  readonly asked: string[];
  /** Answers in place of the registry, and says whether it did. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** A registry in memory, which has the referrers API of version 1.1 of the protocol; closed at the end of the test. */
export async function openFakeRegistry(): Promise<FakeRegistry> {
  const registry: Omit<FakeRegistry, "host"> = {
    manifests: new Map(),
    blobs: new Map(),
    asked: [],
    instead: undefined,
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on("error", () => undefined);
    registry.asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    if (registry.instead?.(request, response) === true) return;
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [status, headers, body] = answerOf(registry, request, Buffer.concat(chunks));
      response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return Object.assign(registry, { host: `127.0.0.1:${(server.address() as AddressInfo).port}` });
}

type Answered = readonly [status: number, headers?: Readonly<Record<string, string>>, body?: Uint8Array | string];

function answerOf(
  { manifests, blobs }: Omit<FakeRegistry, "host">,
  { method = "", url = "", headers }: IncomingMessage,
  body: Buffer,
): Answered {
  const { pathname, searchParams } = new URL(url, "http://x");
  const [, repository = "", kind = "", name = ""] = /^\/v2\/(.+)\/(manifests|blobs|referrers|tags)\/(.+)$/.exec(pathname) ?? []; // prettier-ignore
  const place = `${repository}/${name}`;
  if (kind === "blobs" && method === "POST") return [202, { location: `/v2/${repository}/blobs/uploads/1?state=a` }];
  if (kind === "blobs" && method === "PUT") {
    const digest = searchParams.get("digest") ?? "";
    if (digest !== sha256(body) || searchParams.get("state") !== "a") return [400];
    blobs.set(digest, body);
    return [201];
  }
  if (kind === "manifests" && method === "PUT") {
    const stored = { bytes: body, type: headers["content-type"] ?? "" };
    manifests.set(place, stored).set(`${repository}/${sha256(body)}`, stored);
    const { subject } = JSON.parse(body.toString()) as { readonly subject?: { readonly digest: string } };
    return [201, subject === undefined ? {} : { "oci-subject": subject.digest }];
  }
  if (kind === "referrers")
    return [200, { "content-type": indexType }, JSON.stringify(referrersOf(manifests, repository, name))];
  if (kind === "tags") {
    const tags = [...manifests.keys()].filter((key) => key.startsWith(`${repository}/`) && !key.includes(":"));
    return [200, {}, JSON.stringify({ tags: tags.map((key) => key.slice(repository.length + 1)) })];
  }
  const found =
    kind === "manifests" ? manifests.get(place) : { bytes: blobs.get(name), type: "application/octet-stream" };
  if (found?.bytes === undefined) return [404, {}, '{"errors":[{"code":"NAME_UNKNOWN"}]}'];
  return [200, { "content-type": found.type }, found.bytes];
}

function referrersOf(manifests: FakeRegistry["manifests"], repository: string, digest: string): object {
  const found = [...manifests].flatMap(([key, { bytes, type }]) => {
    if (!key.startsWith(`${repository}/sha256:`)) return [];
    const json = JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>> & { readonly subject?: { readonly digest: string } }; // prettier-ignore
    const { artifactType, annotations } = json;
    if (json.subject?.digest !== digest) return [];
    return [{ mediaType: type, digest: sha256(bytes), size: bytes.length, artifactType, annotations }];
  });
  return { schemaVersion: 2, mediaType: indexType, manifests: found };
}
