import { createHash, generateKeyPairSync } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import {
  fulcioHandler,
  initializeCA,
  initializeCTLog,
  initializeTLog,
  initializeTSA,
  rekorV2Handler,
  tsaHandler,
} from "@sigstore/mock";

const host = "https://rekor.sigstore.example";
const day = 86_400_000;

/** A certificate authority, a log and a timestamp authority of Sigstore in this process, and the root that trusts them. */
export async function openAuthorities({ clock: given = new Date() } = {}) {
  // The mock writes milliseconds that end with a zero otherwise than they are read.
  const clock = new Date(Math.floor(given.getTime() / 1_000) * 1_000 + 555);
  const pair = () => generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
    Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  const ctlog = await initializeCTLog(pair());
  const ca = await initializeCA(pair(), ctlog, clock);
  const tlog = await initializeTLog(host, pair(), clock);
  const tsa = await initializeTSA(pair(), clock);
  const validFor = { start: new Date(clock.getTime() - day) };
  const log = (publicKey: Buffer, keyId: Buffer, baseUrl: string) => ({
    baseUrl,
    hashAlgorithm: "SHA2_256",
    publicKey: {
      rawBytes: publicKey.toString("base64"),
      keyDetails: "PKIX_ECDSA_P256_SHA_256",
      validFor: { start: validFor.start.toISOString() },
    },
    logId: { keyId: keyId.toString("base64") },
  });
  const authority = (uri: string, certificates: readonly ArrayBufferView[]) => ({
    subject: { organization: "example", commonName: "example" },
    uri,
    certChain: { certificates: certificates.map((one) => ({ rawBytes: bytesOf(one).toString("base64") })) },
    validFor: { start: validFor.start.toISOString() },
  });
  const root = {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs: [log(tlog.publicKey, createHash("sha256").update(tlog.publicKey).digest(), host)],
    certificateAuthorities: [authority("https://fulcio.sigstore.example", [ca.rootCertificate])],
    ctlogs: [log(bytesOf(ctlog.publicKey), bytesOf(ctlog.logID), "https://ctfe.sigstore.example")],
    timestampAuthorities: [authority("https://timestamp.sigstore.example", [tsa.intCertificate, tsa.rootCertificate])],
  };
  TrustedRoot.fromJSON(root);
  /** As the log writes down what was proposed. */
  const logEntry = async (text: string): Promise<unknown> => {
    const proposed = JSON.parse(text) as { spec: { proposedContent: { envelope: string; verifiers: [string] } } };
    const { envelope, verifiers } = proposed.spec.proposedContent;
    const { payload, signatures } = JSON.parse(envelope) as { payload: string; signatures: [{ sig: string }] };
    const hash = (data: string | Buffer) => ({
      algorithm: "sha256",
      value: createHash("sha256").update(data).digest("hex"),
    });
    const entry: unknown = await tlog.log({
      apiVersion: "0.0.1",
      kind: "dsse",
      spec: {
        envelopeHash: hash(envelope),
        payloadHash: hash(Buffer.from(payload, "base64")),
        signatures: [{ signature: signatures[0].sig, verifier: verifiers[0] }],
      },
    });
    return entry;
  };
  const handlers = [fulcioHandler(ca, { strict: true }), tsaHandler(tsa, { strict: true }), rekorV2Handler(tlog)];
  return {
    root,
    rootText: JSON.stringify(root),
    /** What a service answers to a request: by the path of its URL. */
    async answer(path: string, body: string): Promise<{ status: number; body: Buffer }> {
      if (path === "/api/v1/log/entries")
        return { status: 201, body: Buffer.from(JSON.stringify(await logEntry(body))) };
      const handler = handlers.find((one) => one.path === path);
      if (handler === undefined) return { status: 404, body: Buffer.from("") };
      const { statusCode, response } = await handler.fn(body);
      return { status: statusCode, body: typeof response === "string" ? Buffer.from(response) : bytesOf(response) };
    },
  };
}

export type Authorities = Awaited<ReturnType<typeof openAuthorities>>;

/** All three services on one port of loopback. */
export async function serveAuthorities(authorities: Authorities): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      void authorities.answer(request.url ?? "", Buffer.concat(chunks).toString()).then(({ status, body }) => {
        response.writeHead(status).end(body);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** The unsigned token of an identity: these services take anyone's word. */
export function tokenOf(subject: string, issuer = "https://token.actions.example"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: subject, iss: issuer })}.x`;
}
