import { X509Certificate, createPublicKey } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { type Bundle, BUNDLE_V03_MEDIA_TYPE, ValidationError, bundleFromJSON, bundleToJSON } from "@sigstore/bundle";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { VerificationError, Verifier, toSignedEntity, toTrustMaterial } from "@sigstore/verify";
import { isObject, parseUntrustedJson } from "../../base/json/json-value.ts";
import { quoted } from "../../base/text/quoted.ts";
import { type Signature, type Signer, keyFingerprint, maxSignerLength } from "./signer.ts";
import { type SkillStatement, parseStatement, statementPayload } from "./statement.ts";

/* Loads the packages of Sigstore, so this module is imported only if there is a bundle. */

/** Verifies bundles against one trusted root, without a network. Never throws. */
export interface BundleVerifier {
  /** Verifies one bundle. `digest`: of the skill beside which the bundle is. */
  verify(bytes: Uint8Array, digest: string): Signature;
}

/** The maximum number of log entries, and of timestamps. More would take long to verify, and prove no more. */
const maxProofs = 4;
const maxDepth = 20;

/** Why a bundle proves nothing, as the end of a sentence that starts with "The signature is invalid:". */
class Invalid extends Error {}

/** Creates a verifier. `root`: a trusted root of Sigstore, as JSON. Throws if it is invalid. */
export function createBundleVerifier(root: string): BundleVerifier {
  const trusted = TrustedRoot.fromJSON(JSON.parse(root));
  const material = toTrustMaterial(trusted);
  const { tlogs, ctlogs, certificateAuthorities } = trusted;
  if (certificateAuthorities.length === 0) throw new TypeError("it names no certificate authority");
  const issuers = certificateAuthorities
    .flatMap(({ certChain }) => certChain?.certificates ?? [])
    .map(({ rawBytes }) => new X509Certificate(rawBytes).publicKey);
  // The thresholds demand whatever the root names: each entry of a log, and a time that an authority confirms.
  const certified = new Verifier(material, {
    tlogThreshold: Math.min(tlogs.length, 1),
    ctlogThreshold: Math.min(ctlogs.length, 1),
    timestampThreshold: 1,
  });

  function signerOf(bundle: Bundle, statement: SkillStatement): Signer {
    if (bundle.verificationMaterial.content.$case !== "publicKey") return certifiedSigner(bundle);
    const { hint } = bundle.verificationMaterial.content.publicKey;
    const key = statement.publicKey;
    if (key === undefined || keyFingerprint(key) !== hint) throw new Invalid("its statement names another key");
    const ofKey = { ...material, publicKey: () => ({ publicKey: readKey(key), validFor: () => true }) };
    new Verifier(ofKey, { tlogThreshold: 0, timestampThreshold: 0 }).verify(toSignedEntity(bundle));
    return { key: hint };
  }

  function certifiedSigner(bundle: Bundle): Signer {
    const raw = certificateIn(bundle);
    // The verifier of Sigstore accepts some certificates that violate their standard; OpenSSL does not.
    const certificate = new X509Certificate(raw);
    if (!certificate.raw.equals(raw) || !issuers.some((issuer) => certificate.verify(issuer)))
      throw new Invalid(ofNoAuthority);
    const { identity } = certified.verify(toSignedEntity(bundle));
    const name = identity?.subjectAlternativeName ?? "";
    const issuer = identity?.extensions?.issuer ?? "";
    const hasBoth = name !== "" && issuer !== "" && name.length <= maxSignerLength && issuer.length <= maxSignerLength;
    if (!hasBoth) throw new Invalid("its certificate names no identity with an issuer");
    return { identity: name, issuer };
  }

  function verify(bytes: Uint8Array, digest: string): Signature {
    const { bundle, json } = readBundle(bytes);
    if (!isDeepStrictEqual(bundleToJSON(bundle), json))
      throw new Invalid("its bundle has fields that version 0.3 does not have, or values in another form");
    const { content } = bundle;
    if (content.$case !== "dsseEnvelope") throw new Invalid("its bundle has no statement");
    const { payloadType, payload, signatures } = content.dsseEnvelope;
    if (payloadType !== statementPayload) throw new Invalid(`its statement is of the type ${quoted(payloadType)}`);
    const statement = parseStatement(payload);
    if ("why" in statement) throw new Invalid(`its statement ${statement.why}`);
    checkProofs(bundle);
    const signer = signerOf(bundle, statement);
    const { keyid } = signatures[0] ?? {};
    if (keyid !== ("key" in signer ? signer.key : "")) throw new Invalid("its signature names another key");
    if (`sha256:${statement.digest}` !== digest)
      throw new Invalid(`it is over other files (${statement.digest.slice(0, 12)}), not over these`);
    return { state: "signed", signer };
  }
  return {
    verify(bytes, digest) {
      try {
        return verify(bytes, digest);
      } catch (error) {
        return { state: "invalid", why: whyInvalid(error) };
      }
    },
  };
}

/** The certificate of a bundle as DER; of a chain, the first one. */
function certificateIn({ verificationMaterial: { content } }: Bundle): Buffer {
  if (content.$case === "certificate") return content.certificate.rawBytes;
  const [first] = content.$case === "x509CertificateChain" ? content.x509CertificateChain.certificates : [];
  return first?.rawBytes ?? Buffer.alloc(0);
}

/** Reads a bundle of version 0.3 with one signature. Checks only its form. */
function readBundle(bytes: Uint8Array): { readonly bundle: Bundle; readonly json: unknown } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isUtf8(buffer)) throw new Invalid("its bundle is not UTF-8");
  let json: unknown;
  try {
    json = parseUntrustedJson(buffer, maxDepth);
  } catch (error) {
    throw error instanceof SyntaxError ? new Invalid("its bundle is not JSON") : error;
  }
  if (!isObject(json)) throw new Invalid("its bundle is not a JSON object");
  const { mediaType, dsseEnvelope } = json;
  if (mediaType !== BUNDLE_V03_MEDIA_TYPE) {
    const found = typeof mediaType === "string" ? quoted(mediaType) : "none";
    throw new Invalid(`its bundle is of another version (${found}); ${BUNDLE_V03_MEDIA_TYPE} is read`);
  }
  const signatures = isObject(dsseEnvelope) ? dsseEnvelope["signatures"] : undefined;
  if (Array.isArray(signatures) && signatures.length !== 1)
    throw new Invalid(`it has ${signatures.length} signatures; there must be exactly one`);
  return { bundle: bundleFromJSON(json), json };
}

function checkProofs({ verificationMaterial: { tlogEntries, timestampVerificationData } }: Bundle): void {
  const timestamps = timestampVerificationData?.rfc3161Timestamps ?? [];
  if (tlogEntries.length > maxProofs || timestamps.length > maxProofs)
    throw new Invalid(`its bundle has more than ${maxProofs} entries of logs or timestamps`);
  for (const entry of tlogEntries) {
    const fault = logEntryFault(entry);
    if (fault !== undefined) throw new Invalid(`its entry of the transparency log ${fault}`);
  }
}

type LogEntry = Bundle["verificationMaterial"]["tlogEntries"][number];

/** A line `— NAME BASE64`. The name must not be a pattern, because the verifier uses it as one. */
const signatureLine = /^— ([\w.:/-]{1,256}) ([A-Za-z0-9+/]+={0,2})$/;

/**
 * Finds faults of a transparency log's entry that the verifier of Sigstore does not detect. Returns the end of a sentence that starts with
 * "its entry"; undefined if the log signed everything in the entry.
 */
function logEntryFault({ inclusionProof: proof, inclusionPromise: promise, ...entry }: LogEntry): string | undefined {
  if (proof?.checkpoint === undefined) return "has no proof of inclusion";
  const [note, signatures, ...rest] = proof.checkpoint.envelope.split("\n\n");
  const [, size, root] = note?.split("\n") ?? [];
  const lines = signatures?.split("\n") ?? [];
  if (rest.length > 0 || lines.pop() !== "" || !lines.every(isSignatureLine)) return "has a damaged checkpoint";
  const isSame = proof.treeSize === size && proof.rootHash.toString("base64") === root;
  if (!isSame) return "contradicts its checkpoint";
  if (promise !== undefined) return undefined;
  // Without a promise, the log signs neither its time nor its index.
  return entry.integratedTime === "0" && entry.logIndex === proof.logIndex
    ? undefined
    : "has a time that nobody signed";
}

function isSignatureLine(line: string): boolean {
  const [, , base64 = ""] = signatureLine.exec(line) ?? [];
  return base64 !== "" && Buffer.from(base64, "base64").toString("base64") === base64;
}

/** Reads a public key. Accepts only keys that are strong by their kind. */
function readKey(der: Buffer) {
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  const isStrong =
    key.asymmetricKeyType === "ed25519" ||
    (key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1");
  if (!isStrong) throw new Invalid("its key is neither of Ed25519 nor of ECDSA with P-256");
  return key;
}

const ofNoAuthority = "its certificate is of no authority that the trusted root names for that time";

/** The reasons by the codes of the verifier, whose own messages are for developers. */
const sentences: readonly (readonly [code: RegExp, why: string])[] = [
  [/^CERTIFICATE_ERROR$/, ofNoAuthority],
  [/^TIMESTAMP_ERROR$/, "its time is not vouched for by anyone whom the trusted root names"],
  [/^TLOG_BODY_ERROR$/, "its entry of the transparency log is about something else"],
  [/^TLOG_/, "its entry is of no transparency log that the trusted root names"],
  [/^SIGNATURE_ERROR$/, "the signature does not fit its statement"],
];

function whyInvalid(error: unknown): string {
  if (error instanceof Invalid) return error.message;
  if (error instanceof ValidationError)
    return `its bundle lacks ${error.fields.map((field) => quoted(field)).join(", ")}`;
  const code = error instanceof VerificationError ? error.code : "";
  // Any other failure is caused by the content of the bundle.
  return sentences.find(([form]) => form.test(code))?.[1] ?? "its bundle is damaged";
}
