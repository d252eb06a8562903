import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { type Bundle, envelopeToJSON } from "@sigstore/bundle";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";
import { SkillsError } from "../../base/errors.ts";
import { type Certified, signCertified } from "./make-bundle.ts";

/** Posts JSON to a service of Sigstore and returns the bytes of the answer. Throws if the answer is not a success. */
export type AskService = (url: string, body: string) => Promise<Uint8Array>;

/** The token of an identity, and the services that get it and certify its signatures. */
export interface KeylessSigning {
  /** An OpenID Connect token. */
  readonly token: string;
  readonly fulcio: string;
  readonly rekor: string;
  /** The timestamp authority. Default: the log's time counts. */
  readonly tsa?: string | undefined;
  readonly ask: AskService;
}

type LogEntry = Bundle["verificationMaterial"]["tlogEntries"][number];

/** Signs an in-toto statement in the name of an identity, with a key that is used once; returns the text of a bundle. */
export async function signKeyless(statement: Buffer, signing: KeylessSigning): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const { token, fulcio, rekor, tsa, ask } = signing;
  const proof = sign("sha256", Buffer.from(subjectOf(token)), privateKey).toString("base64");
  const content = publicKey.export({ format: "pem", type: "spki" }).toString();
  const certificate = await requestCertificate(fulcio, { token, content, proof }, ask);
  return await signCertified(statement, privateKey, async (bundle, signature): Promise<Certified> => {
    const [tlogEntries, timestamps] = await Promise.all([
      addToLog(rekor, bundle, certificate, ask).then((entry) => [entry]),
      tsa === undefined ? [] : requestTimestamp(tsa, signature, ask).then((timestamp) => [timestamp]),
    ]);
    const der = Buffer.from(certificate.replace(/-----[^-]+-----|\s/g, ""), "base64");
    return { certificate: der, tlogEntries, timestamps };
  });
}

/** The text that the authority must receive signed: the token's email address, or its subject. */
function subjectOf(token: string): string {
  const claims = parseIfJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { sub, email, email_verified: isVerified } = isObject(claims) ? claims : {};
  if (typeof email === "string" && isVerified !== false) return email;
  if (typeof sub === "string") return sub;
  throw new SkillsError("INVALID_OPTIONS", "the identity token is no OpenID Connect token with a subject");
}

async function requestCertificate(
  fulcio: string,
  { token, content, proof }: { readonly token: string; readonly content: string; readonly proof: string },
  ask: AskService,
): Promise<string> {
  const answer = await askJson(`${fulcio}/api/v2/signingCert`, ask, {
    credentials: { oidcIdentityToken: token },
    publicKeyRequest: { publicKey: { algorithm: "ECDSA", content }, proofOfPossession: proof },
  });
  const issued = answer["signedCertificateEmbeddedSct"] ?? answer["signedCertificateDetachedSct"];
  const chain = isObject(issued) && isObject(issued["chain"]) ? issued["chain"]["certificates"] : undefined;
  const certificate: unknown = Array.isArray(chain) ? chain[0] : undefined;
  if (typeof certificate !== "string") throw unexpected(fulcio, "a certificate");
  return certificate;
}

async function addToLog(rekor: string, bundle: Bundle, certificate: string, ask: AskService): Promise<LogEntry> {
  if (bundle.content.$case !== "dsseEnvelope") throw new TypeError("no envelope");
  const envelope = JSON.stringify(envelopeToJSON(bundle.content.dsseEnvelope));
  const answer = await askJson(`${rekor}/api/v1/log/entries`, ask, {
    apiVersion: "0.0.1",
    kind: "dsse",
    spec: { proposedContent: { envelope, verifiers: [Buffer.from(certificate).toString("base64")] } },
  });
  const [entry] = Object.values(answer);
  const text = (value: unknown): string => {
    if (typeof value !== "string" && typeof value !== "number") throw unexpected(rekor, "an entry of a log");
    return String(value);
  };
  const { body, integratedTime, logID, logIndex, verification } = isObject(entry) ? entry : {};
  const { inclusionProof, signedEntryTimestamp } = isObject(verification) ? verification : {};
  const {
    hashes,
    checkpoint,
    rootHash,
    treeSize,
    logIndex: treeIndex,
  } = isObject(inclusionProof) ? inclusionProof : {};
  const canonicalizedBody = Buffer.from(text(body), "base64");
  const logged = parseIfJson(canonicalizedBody.toString());
  const { kind, apiVersion } = isObject(logged) ? logged : {};
  return {
    logIndex: text(logIndex),
    logId: { keyId: Buffer.from(text(logID), "hex") },
    kindVersion: { kind: text(kind), version: text(apiVersion) },
    integratedTime: text(integratedTime),
    inclusionPromise: { signedEntryTimestamp: Buffer.from(text(signedEntryTimestamp), "base64") },
    inclusionProof: {
      logIndex: text(treeIndex),
      rootHash: Buffer.from(text(rootHash), "hex"),
      treeSize: text(treeSize),
      hashes: (Array.isArray(hashes) ? hashes : []).map((hash) => Buffer.from(text(hash), "hex")),
      checkpoint: { envelope: text(checkpoint) },
    },
    canonicalizedBody,
  };
}

async function requestTimestamp(tsa: string, signature: Buffer, ask: AskService): Promise<Buffer> {
  const artifactHash = createHash("sha256").update(signature).digest("base64");
  const url = new URL(tsa).pathname === "/" ? `${tsa}/api/v1/timestamp` : tsa;
  return Buffer.from(await ask(url, JSON.stringify({ artifactHash, hashAlgorithm: "sha256", certificates: true })));
}

async function askJson(url: string, ask: AskService, body: object): Promise<Readonly<Record<string, unknown>>> {
  const answer = parseIfJson(Buffer.from(await ask(url, JSON.stringify(body))).toString());
  if (!isObject(answer)) throw unexpected(url, "JSON");
  return answer;
}

function unexpected(url: string, what: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `${new URL(url).host} answered without ${what}.`);
}
