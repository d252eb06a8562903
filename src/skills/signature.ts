import { readFile } from "node:fs/promises";
import { isSkillsError, SkillsError } from "../base/errors.ts";
import { joinPath } from "../base/paths/at-real-path.ts";
import { packageUrl } from "../base/paths/location.ts";
import type { SkillSource } from "./files.ts";
import { type SkillDirectory, signatureFile } from "./skill.ts";
import type { Signature } from "./signature/signer.ts";
import type { KeylessSigning } from "./signature/sign-keyless.ts";
import { type SignedSubject, toStatement } from "./signature/statement.ts";
import type { BundleVerifier } from "./signature/verify-bundle.ts";

export {
  type Signature,
  type Signer,
  isSameSigner,
  maxSignerLength,
  signatureWords,
  signerName,
  toSigner,
} from "./signature/signer.ts";

export type { AskService, KeylessSigning } from "./signature/sign-keyless.ts";

/** The largest bundle that is read. */
export const maxBundleBytes = 512 * 1024;
const maxRootBytes = 4 * 1024 * 1024;

/** The date on which the trusted root in this package was the one that Sigstore published. */
export const shippedRootDate = "2026-11-05";

/** Reads and verifies the signatures of skills, without a network. Loads the necessary modules at the first bundle. */
export interface Signatures {
  /** Verifies the signature of a skill. Never throws. `digest`: of the skill's files, as `describe_skill` returns it. */
  of(source: SkillSource, skill: SkillDirectory, digest: string | undefined): Promise<Signature>;
  /** Verifies the signature of files that are not installed yet. Never throws. */
  ofFiles(
    files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
    digest: string | undefined,
  ): Promise<Signature>;
  /** Checks the trusted root. Throws INVALID_OPTIONS if it cannot be used. */
  check(): Promise<void>;
}

/** Opens a verifier of signatures. `trustedRoot`: a file in Sigstore's form that replaces the one in this package. */
export function openSignatures(trustedRoot?: string): Signatures {
  let opened: Promise<BundleVerifier> | undefined;
  const open = (): Promise<BundleVerifier> => (opened ??= openVerifier(trustedRoot));

  async function verify(bytes: Uint8Array, size: number, digest: string | undefined): Promise<Signature> {
    if (size > maxBundleBytes)
      return invalid(`${signatureFile} has more than ${maxBundleBytes / 1024} KiB, the limit of a bundle`);
    if (digest === undefined) return invalid("the skill has too many files for a digest");
    try {
      return (await open()).verify(bytes, digest);
    } catch (error) {
      return invalid(error instanceof Error ? error.message.replace(/\.$/, "") : String(error));
    }
  }

  return {
    async of({ files, bytes }, { directory }, digest) {
      try {
        const file = joinPath(directory, signatureFile);
        const real = files.resolve(file);
        if (real === undefined) return unsigned(files.resolve(joinPath(directory, otherSignatureFile)) !== undefined);
        if (real !== file) return invalid(`${signatureFile} is a link; it must be a file`);
        const head = bytes.head(real, maxBundleBytes + 1);
        if (head === undefined) return invalid(`${signatureFile} is not a file`);
        return await verify(head.bytes, head.size, digest);
      } catch (error) {
        if (isSkillsError(error)) return invalid(`${signatureFile} cannot be read`);
        throw error;
      }
    },
    async ofFiles(files, digest) {
      const found = files.find(({ path }) => path === signatureFile);
      if (found === undefined) return unsigned(files.some(({ path }) => path === otherSignatureFile));
      return await verify(found.bytes, found.bytes.length, digest);
    },
    async check() {
      if (trustedRoot !== undefined) await open();
    },
  };
}

/** The signature file of haiku.skills. It is over a hash of the files without separators, which different skills can share. */
const otherSignatureFile = "SKILL.sigstore";

/** The assumed signature of a skill without information about its signer. */
export function noSignature(): Promise<Signature> {
  return Promise.resolve({ state: "unsigned" });
}

function unsigned(hasOther: boolean): Signature {
  if (!hasOther) return { state: "unsigned" };
  return { state: "unsigned", note: `its ${otherSignatureFile} is over another digest than approvals are for` };
}

function invalid(why: string): Signature {
  return { state: "invalid", why };
}

async function openVerifier(trustedRoot: string | undefined): Promise<BundleVerifier> {
  const [{ createBundleVerifier }, root] = await Promise.all([
    import("./signature/verify-bundle.ts"),
    readFile(trustedRoot ?? packageUrl("skills/signature/trusted-root.json")).catch((error: unknown) => error),
  ]);
  try {
    if (!Buffer.isBuffer(root)) throw root;
    if (root.length > maxRootBytes) throw new RangeError(`it has more than ${maxRootBytes / 1024 / 1024} MiB`);
    return createBundleVerifier(root.toString());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `the trusted root ${trustedRoot ?? "of this package"} cannot be used: ${why}`;
    throw new SkillsError("INVALID_OPTIONS", message, { cause: error });
  }
}

/** A private key in a file. The name of the file is for messages. */
export interface KeySigning {
  readonly file: string;
  readonly pem: string;
  readonly passphrase: string | undefined;
}

/** Signs a skill; returns the text of a bundle that names the signer. Throws INVALID_OPTIONS for an unusable key or token. */
export async function signSkill(subject: SignedSubject, signing: KeySigning | KeylessSigning): Promise<string> {
  if ("token" in signing)
    return await (await import("./signature/sign-keyless.ts")).signKeyless(toStatement(subject), signing);
  const { readPrivateKey, signWithKey } = await import("./signature/make-bundle.ts");
  return signWithKey(subject, readPrivateKey(signing.pem, signing.file, signing.passphrase));
}

/** Generates a private key as PEM, encrypted if there is a passphrase, and returns it with the fingerprint of its public key. */
export async function generateSigningKey(
  passphrase: string | undefined,
): Promise<{ readonly pem: string; readonly key: string }> {
  return (await import("./signature/make-bundle.ts")).generateKey(passphrase);
}
