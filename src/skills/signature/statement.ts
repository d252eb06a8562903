import { isObject, parseIfJson } from "../../base/json/json-value.ts";

/** The media type of an in-toto statement, as JSON, in the envelope of a signature. */
export const statementPayload = "application/vnd.in-toto+json";
const statementType = "https://in-toto.io/Statement/v1";
/** The type of version 1 of this package's statements about skills. */
const predicateType = "urn:acp-skills:signed-skill:v1";

/** The skill version that a signature is about. */
export interface SignedSubject {
  readonly name: string;
  readonly version: string;
  /** The digest, `sha256:` and hexadecimal digits, as `describe_skill` returns it. */
  readonly digest: string;
}

/** The bytes to sign. `publicKey`: the key of a key pair as DER (SPKI), by whose digest users recognize it. */
export function toStatement({ name, version, digest }: SignedSubject, publicKey?: Buffer): Buffer {
  return Buffer.from(
    JSON.stringify({
      _type: statementType,
      subject: [{ name, digest: { dirHash: digest.replace(/^sha256:/, "") } }],
      predicateType,
      predicate: { name, version, ...(publicKey !== undefined && { publicKey: publicKey.toString("base64") }) },
    }),
  );
}

/** The content of a statement of this package. */
export interface SkillStatement {
  /** The digest in hexadecimal. */
  readonly digest: string;
  readonly publicKey: Buffer | undefined;
}

/** Reads a statement. `why` is the end of a sentence that starts with "its statement". */
export function parseStatement(bytes: Buffer): SkillStatement | { readonly why: string } {
  const statement = parseIfJson(bytes.toString());
  if (!isObject(statement) || statement["_type"] !== statementType) return { why: "is not an in-toto statement v1" };
  const { subject, predicate } = statement;
  if (statement["predicateType"] !== predicateType || !isObject(predicate))
    return { why: "is not about the files of a skill, but over another digest" };
  if (!Array.isArray(subject) || subject.length !== 1) return { why: "is not about exactly one skill" };
  const digests: unknown = isObject(subject[0]) ? subject[0]["digest"] : undefined;
  const digest = isObject(digests) ? digests["dirHash"] : undefined;
  if (typeof digest !== "string" || !/^[0-9a-f]{64}$/.test(digest))
    return { why: "has no digest of a skill (dirHash)" };
  const { publicKey: key } = predicate;
  return { digest, publicKey: typeof key === "string" ? Buffer.from(key, "base64") : undefined };
}
