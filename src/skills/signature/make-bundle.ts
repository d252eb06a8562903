import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { type Bundle, bundleToJSON, toDSSEBundle } from "@sigstore/bundle";
import { SkillsError, invalidOptions } from "../../base/errors.ts";
import { keyFingerprint } from "./signer.ts";
import { type SignedSubject, statementPayload, toStatement } from "./statement.ts";

/** The additions to a signature before it is written: the certificate of its key, and proofs of the time. */
export interface Certified {
  /** The certificate as DER. */
  readonly certificate: Buffer;
  readonly tlogEntries: Bundle["verificationMaterial"]["tlogEntries"];
  readonly timestamps: readonly Buffer[];
}

/** Reads a private key from PEM. Throws INVALID_OPTIONS, which says what to do; `name` is the name of the file. */
export function readPrivateKey(pem: string, name: string, passphrase: string | undefined): KeyObject {
  const isEncrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
  if (isEncrypted && passphrase === undefined)
    throw invalidOptions(
      `${name} is encrypted: name the environment variable with its passphrase (--passphrase env:NAME)`,
    );
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    const why = isEncrypted ? "cannot be decrypted with this passphrase" : "is no private key in PEM (PKCS#8)";
    throw new SkillsError("INVALID_OPTIONS", `${name} ${why}`, { cause: error });
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "ed25519" || (type === "ec" && details?.namedCurve === "prime256v1")) return key;
  throw invalidOptions(
    `${name} is a key of another kind (${type ?? "unknown"}); Ed25519 and ECDSA with P-256 are used`,
  );
}

/** Generates an Ed25519 key. */
export function generateKey(passphrase: string | undefined): { readonly pem: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const encryption = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  const pem = privateKey.export({ format: "pem", type: "pkcs8", ...encryption }).toString();
  return { pem, key: keyFingerprint(publicKey.export({ format: "der", type: "spki" })) };
}

/** Signs with a key pair; returns the text of a bundle. */
export function signWithKey(subject: SignedSubject, key: KeyObject): string {
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" });
  const statement = toStatement(subject, publicKey);
  const signature = signEnvelope(statement, key);
  const keyHint = keyFingerprint(publicKey);
  return toText(toDSSEBundle({ artifact: statement, artifactType: statementPayload, signature, keyHint }));
}

/** Signs an in-toto statement with a certified key; returns a bundle's text. `certify` gets the signature and the bundle to add to. */
export async function signCertified(
  statement: Buffer,
  key: KeyObject,
  certify: (bundle: Bundle, signature: Buffer) => Promise<Certified>,
): Promise<string> {
  const signature = signEnvelope(statement, key);
  const envelope = { artifact: statement, artifactType: statementPayload, signature };
  const { certificate, tlogEntries, timestamps } = await certify(toDSSEBundle(envelope), signature);
  const bundle = toDSSEBundle({ ...envelope, certificate });
  bundle.verificationMaterial.tlogEntries = [...tlogEntries];
  bundle.verificationMaterial.timestampVerificationData = {
    rfc3161Timestamps: timestamps.map((signedTimestamp) => ({ signedTimestamp })),
  };
  return toText(bundle);
}

/** Signs the envelope. DSSE signs the type and the bytes, each with its length. */
function signEnvelope(payload: Buffer, key: KeyObject): Buffer {
  const head = `DSSEv1 ${statementPayload.length} ${statementPayload} ${payload.length} `;
  return sign(key.asymmetricKeyType === "ec" ? "sha256" : null, Buffer.concat([Buffer.from(head), payload]), key);
}

function toText(bundle: Bundle): string {
  return `${JSON.stringify(bundleToJSON(bundle), null, 2)}\n`;
}
