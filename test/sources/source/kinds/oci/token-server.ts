import { X509Certificate, createPrivateKey, sign } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { testCertificate } from "../../../test-certificate.ts";

export const person = { user: "ada", secret: "hunter2", refresh: "refresh-1" } as const;
const service = "test-registry";
const issuer = "test-issuer";

interface TokenRequest {
  readonly method: string;
  readonly authorization: string | undefined;
  readonly parameters: URLSearchParams;
}

export interface TokenServer {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Lines for the configuration of a registry that takes its tokens. */
  readonly auth: string;
  readonly asked: TokenRequest[];
  close(): Promise<void>;
}

/** Gives everybody tokens for public/…, and tokens for all else to one person. */
export async function openTokenServer(): Promise<TokenServer> {
  const asked: TokenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const body = new URLSearchParams(Buffer.concat(chunks).toString());
      const parameters = method === "POST" ? body : new URL(url, "http://x").searchParams;
      asked.push({ method, authorization: headers.authorization, parameters });
      const basic = `Basic ${Buffer.from(`${person.user}:${person.secret}`).toString("base64")}`;
      const isKnown = headers.authorization === basic || parameters.get("refresh_token") === person.refresh;
      const [, name = "", actions = ""] = /^repository:([^:]+):(.*)$/.exec(parameters.get("scope") ?? "") ?? [];
      const isWrong = headers.authorization !== undefined && !isKnown;
      const granted = isKnown ? actions.split(",") : name.startsWith("public/") ? ["pull"] : [];
      response.writeHead(isWrong ? 401 : 200, { "content-type": "application/json" });
      response.end(isWrong ? "{}" : JSON.stringify({ access_token: toToken(name, granted) }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-token-"));
  const roots = path.join(directory, "roots.pem");
  writeFileSync(roots, testCertificate.cert);
  const lines = [`realm: http://${host}/token`, `service: ${service}`, `issuer: ${issuer}`, `rootcertbundle: ${roots}`];
  return {
    host,
    asked,
    auth: `auth:\n  token:\n${lines.map((line) => `    ${line}\n`).join("")}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
      rmSync(directory, { recursive: true });
    },
  };
}

function toToken(name: string, actions: readonly string[]): string {
  const x5c = [new X509Certificate(testCertificate.cert).raw.toString("base64")];
  const now = Math.floor(Date.now() / 1_000);
  const times = { iat: now, nbf: now - 10, exp: now + 300, jti: String(Math.random()) };
  const access = [{ type: "repository", name, actions }];
  const claims = { iss: issuer, sub: person.user, aud: service, ...times, access };
  const text = [{ typ: "JWT", alg: "ES256", x5c }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join("."); // prettier-ignore
  const key = createPrivateKey(testCertificate.key);
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}
