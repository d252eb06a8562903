import { realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SkillsError } from "../../../base/errors.ts";
import { shownPath } from "../../../base/paths/location.ts";
import { systemCode } from "../../../base/failures/system-error.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../skills/files.ts";
import { createSkillHasher, shortDigest } from "../../../skills/hash.ts";
import { type Skill, signatureFile } from "../../../skills/skill.ts";
import {
  type KeySigning,
  type KeylessSigning,
  generateSigningKey,
  openSignatures,
  signSkill,
  signatureWords,
} from "../../../skills/signature.ts";
import { allowPrivate, json, trustedRoot } from "../../arguments/shared-options.ts";
import { existingDirectory, readNamedFile, toAbsolute } from "../../arguments/values.ts";
import { type OptionValues, defineCommand, exit, text, usageError } from "../../command.ts";
import { createListing } from "../../listing.ts";
import { safeText } from "../../report/safe-text.ts";
import { type Terminal, interruptible } from "../../report/terminal.ts";

const options = {
  key: text("FILE", "Sign with the private key in FILE: PEM (PKCS#8), Ed25519 or ECDSA with P-256."),
  passphrase: text("env:NAME", "The environment variable with the passphrase of the key."),
  output: text("FILE", `Write the signature to FILE. Default: ${signatureFile} in DIR.`),
  "generate-key": text("FILE", "Write a new private key to FILE, and print the fingerprint of its public key."),
  fulcio: text("URL", "Who certifies an identity. Default: https://fulcio.sigstore.dev."),
  rekor: text("URL", "The log that signatures are added to. Default: https://rekor.sigstore.dev."),
  tsa: text("URL", "Also have a timestamp authority vouch for the time."),
  "trusted-root": trustedRoot,
  "allow-private": allowPrivate,
  json,
} as const;

type Given = OptionValues<typeof options>;

export const command = defineCommand({
  usage: "sign DIR [options]",
  positionals: { name: "DIR", minimum: 0, maximum: 1, values: "files" },
  options,
  examples: ["sign --generate-key signing.pem", "sign ./skills/pdf --key signing.pem", "sign ./skills/pdf"],
  notes: [
    "DIR is the directory of one skill. The signature says who made exactly these files: sign again when they change.",
    "Without --key: an identity signs, whose token is in $SIGSTORE_ID_TOKEN, or which GitHub Actions gives to jobs with id-token: write.",
    "  Its name is then published in a log that forgets nothing. With services of your own: --fulcio, --rekor, --tsa and --trusted-root.",
    "A signature grants nothing by itself: it is shown wherever a person decides, the lock pins it, and a policy can demand it.",
  ],
  async run({ options: given, positionals: [directory] }, terminal) {
    const { "generate-key": generated } = given;
    if (generated !== undefined) {
      if (directory !== undefined || given.key !== undefined)
        throw usageError("--generate-key goes without DIR and --key");
      return await generate(generated, given, terminal);
    }
    if (directory === undefined) throw usageError("name the directory of the skill to sign");
    const skill = await readSkill(existingDirectory("DIR", directory), terminal);
    return await interruptible(terminal, async (signal) => {
      const { key: file } = given;
      if (file !== undefined) {
        const signing = { file, pem: readNamedFile(file, 64 * 1024), passphrase: passphraseIn(given) };
        return await sign(skill, signing, { given, terminal, signal });
      }
      const { openKeylessSigning } = await import("./sign/keyless-services.ts");
      const { signing, close } = await openKeylessSigning(given, signal);
      return await sign(skill, signing, { given, terminal, signal }).finally(close);
    });
  },
});

async function generate(file: string, given: Given, terminal: Terminal) {
  const { pem, key } = await generateSigningKey(passphraseIn(given));
  writeNew(toAbsolute(file), pem, 0o600);
  if (given.json === true) await terminal.printJson({ key, path: toAbsolute(file) });
  terminal.note(`wrote ${file}; keep it secret. What it signs is shown as: signed with key ${key}`);
  return exit.done;
}

/** Reads the skill in a directory. Throws SKILL_NOT_FOUND if no agent would be offered it. */
async function readSkill(directory: string, terminal: Terminal): Promise<Skill> {
  const real = realpathSync(directory);
  const { catalog } = await createListing({ skills: [real], "no-default-roots": true }, terminal);
  const found = catalog.snapshot.skills.find(({ skill }) => skill.directory === real);
  if (found !== undefined) return found.skill;
  throw new SkillsError(
    "SKILL_NOT_FOUND",
    `${directory} has no skill that agents are offered; acp-skills check ${directory} says why.`,
  );
}

function passphraseIn({ passphrase }: Given): string | undefined {
  if (passphrase === undefined) return undefined;
  const [, name] = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(passphrase) ?? [];
  if (name === undefined)
    throw usageError("--passphrase needs env:NAME; others can read a passphrase in a command line");
  const value = process.env[name] ?? "";
  if (value === "") throw usageError(`--passphrase env:${name}: there is no such variable, or it is empty`);
  return value;
}

interface Signing {
  readonly given: Given;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function sign(skill: Skill, signing: KeySigning | KeylessSigning, { given, terminal, signal }: Signing) {
  const { name, version, directory } = skill;
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const { digest } = await createSkillHasher().hash(source, directory, signal);
  if (digest === undefined) throw new SkillsError("UNREADABLE", `${name} has too many files for a digest.`);
  const bundle = await signSkill({ name, version, digest }, signing);
  const signatures = openSignatures(given["trusted-root"]);
  const signature = await signatures.ofFiles([{ path: signatureFile, bytes: Buffer.from(bundle) }], digest);
  // A signature that others would refuse is not written.
  if (signature.state !== "signed") {
    const fix = "with services of your own, name their trusted root with --trusted-root FILE";
    throw new SkillsError("SOURCE_INVALID", `${signatureWords(signature)}; nothing was written: ${fix}.`);
  }
  const file = given.output === undefined ? path.join(directory, signatureFile) : toAbsolute(given.output);
  writeNew(file, bundle, 0o644, true);
  if (given.json === true) await terminal.printJson({ name, version, digest, signature, path: file });
  const what = `${safeText(name)} ${safeText(version)} (${shortDigest(digest)})`;
  terminal.note(`${what} ${signatureWords(signature)}; wrote ${shownPath(file, terminal.cwd)}`);
  return exit.done;
}

/** Writes a new file, never through a link that a project may have left there. */
function writeNew(file: string, text: string, mode: number, replaces = false): void {
  try {
    if (replaces) rmSync(file, { force: true });
    writeFileSync(file, text, { flag: "wx", mode });
  } catch (error) {
    const code = systemCode(error);
    const why = code === "EEXIST" ? "exists; a key is never replaced" : `cannot be written (${code})`;
    throw code === "" ? error : usageError(`${file} ${why}`);
  }
}
