import { createHash } from "node:crypto";
import { isObject } from "../../base/json/json-value.ts";
import { quoted } from "../../base/text/quoted.ts";
import { cleanText } from "../../base/text/unsafe-characters.ts";

/** A signer: an identity, as its issuer knows it (such as a workflow of a repository), or the owner of a private key. */
export type Signer =
  | { readonly identity: string; readonly issuer: string }
  /** `SHA256:` and the digest of the public key (SPKI, DER) in base64 without padding. */
  | { readonly key: string };

/** The result of reading a skill's signature. `why`: the end of a sentence that starts with "The signature is invalid:". */
export type Signature =
  | { readonly state: "signed"; readonly signer: Signer }
  | { readonly state: "unsigned"; readonly note?: string }
  | { readonly state: "invalid"; readonly why: string };

/** The maximum number of characters of an identity and of an issuer. */
export const maxSignerLength = 1_024;

/** The name of a public key (SPKI, DER), by which users recognize it and policies accept it. */
export function keyFingerprint(publicKey: Buffer): string {
  return `SHA256:${createHash("sha256").update(publicKey).digest("base64").replace(/=+$/, "")}`;
}

const keyForm = /^SHA256:[A-Za-z0-9+/]{43}$/;

/** Whether a text is the fingerprint of a key. */
function isKeyFingerprint(text: unknown): text is string {
  return typeof text === "string" && keyForm.test(text);
}

/** The signer that foreign JSON names; undefined if it names none. */
export function toSigner(value: unknown): Signer | undefined {
  if (!isObject(value)) return undefined;
  const { key, identity, issuer, ...others } = value;
  if (Object.keys(others).length > 0) return undefined;
  if (isKeyFingerprint(key) && identity === undefined && issuer === undefined) return { key };
  if (key !== undefined || !isName(identity) || !isName(issuer)) return undefined;
  return { identity, issuer };
}

function isName(text: unknown): text is string {
  return typeof text === "string" && text !== "" && text.length <= maxSignerLength;
}

export function isSameSigner(one: Signer | undefined, other: Signer | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if ("key" in one) return "key" in other && one.key === other.key;
  return "identity" in other && one.identity === other.identity && one.issuer === other.issuer;
}

/** Names a signer without invisible characters: `https://github.com/… (https://token.actions…)` or `key SHA256:…`. */
export function signerName(signer: Signer): string {
  if ("key" in signer) return `key ${shown(signer.key)}`;
  return `${shown(signer.identity)} (${shown(signer.issuer)})`;
}

/** Plain words of URLs and addresses. Anything else is quoted, so that it cannot continue the surrounding sentence. */
const plainName = /^[\w.@+:/~%=&?#[\]-]+$/;

function shown(name: string): string {
  return quoted(cleanText(name, maxSignerLength), { maxLength: maxSignerLength, plain: plainName });
}

/** Describes a signature: `signed by NAME (ISSUER)`, `signed with key SHA256:…`, `not signed`, or `signature INVALID: why`. */
export function signatureWords(signature: Signature): string {
  switch (signature.state) {
    case "signed":
      return `signed ${"key" in signature.signer ? "with" : "by"} ${signerName(signature.signer)}`;
    case "unsigned":
      return signature.note === undefined ? "not signed" : `not signed (${signature.note})`;
    case "invalid":
      return `signature INVALID: ${signature.why}`;
  }
}
