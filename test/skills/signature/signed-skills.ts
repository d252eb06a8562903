import { createHash, generateKeyPairSync } from "node:crypto";
import path from "node:path";
import { memorySkillSource } from "../../../src/skills/files.ts";
import { createSkillHasher } from "../../../src/skills/hash.ts";
import { signatureFile } from "../../../src/skills/skill.ts";
import { signWithKey } from "../../../src/skills/signature/make-bundle.ts";
import { type AskService, signKeyless } from "../../../src/skills/signature/sign-keyless.ts";
import { type SignedSubject, toStatement } from "../../../src/skills/signature/statement.ts";
import { type Authorities, tokenOf } from "./authorities.ts";

export const directory = path.resolve("/", "skills", "rows");
export const identity = "https://github.com/acme/skills/.github/workflows/release.yml@refs/heads/main";
export const issuer = "https://token.actions.example";

export function skillText(name = "rows"): string {
  return `---\nname: ${name}\ndescription: Counts rows.\n---\nCount.\n`;
}

export function filesOf(bundle?: string, text = skillText()) {
  const files = [{ path: "SKILL.md", bytes: Buffer.from(text) }];
  return bundle === undefined ? files : [...files, { path: signatureFile, bytes: Buffer.from(bundle) }];
}

export async function digestOf(files: ReturnType<typeof filesOf>): Promise<string> {
  const source = memorySkillSource(directory, files);
  const { digest } = await createSkillHasher().hash(source, directory, new AbortController().signal);
  if (digest === undefined) throw new Error("no digest");
  return digest;
}

export async function subjectOf(text = skillText()): Promise<SignedSubject> {
  return { name: "rows", version: "0.0.0", digest: await digestOf(filesOf(undefined, text)) };
}

/** A key pair and the fingerprint of its public key. */
export function keyPair(type: "ed25519" | "ec" = "ed25519") {
  const { privateKey, publicKey } =
    type === "ed25519" ? generateKeyPairSync(type) : generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const der = publicKey.export({ format: "der", type: "spki" });
  return { privateKey, key: `SHA256:${createHash("sha256").update(der).digest("base64").replace("=", "")}` };
}

export async function keySigned(pair = keyPair(), text = skillText()): Promise<string> {
  return signWithKey(await subjectOf(text), pair.privateKey);
}

export async function keylessSigned(
  authorities: Authorities,
  {
    text = skillText(),
    subject = identity,
    tsa = false,
    statement,
  }: { readonly text?: string; readonly subject?: string; readonly tsa?: boolean; readonly statement?: Buffer } = {},
): Promise<string> {
  const ask: AskService = async (url, body) => (await authorities.answer(new URL(url).pathname, body)).body;
  const [fulcio, rekor] = ["https://fulcio.sigstore.example", "https://rekor.sigstore.example"];
  const stamped = tsa ? { tsa: "https://timestamp.sigstore.example" } : {};
  return await signKeyless(statement ?? toStatement(await subjectOf(text)), {
    token: tokenOf(subject, issuer),
    fulcio,
    rekor,
    ask,
    ...stamped,
  });
}
