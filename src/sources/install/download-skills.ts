import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { inParallel } from "../../base/promises.ts";
import { shortList } from "../../base/text/code-points.ts";
import { nearest } from "../../base/text/nearest.ts";
import { type InspectedSkill, inspectSkill } from "../../skills/check.ts";
import type { Level } from "../../skills/rules.ts";
import {
  type Signature,
  type Signatures,
  isSameSigner,
  openSignatures,
  signatureWords,
} from "../../skills/signature.ts";
import type { LockEntry } from "../lock.ts";
import type { SourceUrl } from "../source.ts";
import type { RemoteIndex, RemoteSkill, SkillFile, SourceReader } from "../reader.ts";

/** A skill of a source, downloaded and validated. */
export interface Downloaded {
  readonly remote: RemoteSkill;
  readonly files: readonly SkillFile[];
  readonly inspected: InspectedSkill;
  readonly signature: Signature;
}

const downloadsAtOnce = 4;

/** Returns the skills with these names or ids. Throws SKILL_NOT_FOUND with the nearest names. */
export function chooseSkills({ source, skills }: RemoteIndex, names: readonly string[]): readonly RemoteSkill[] {
  return [...new Set(names)].map((name) => {
    const found = skills.find((skill) => skill.name === name) ?? skills.find(({ id }) => id === name);
    if (found !== undefined) return found;
    const offered = skills.map((skill) => skill.name);
    const close = nearest(name, offered, { count: 3 });
    const all = offered.length === 0 ? "it offers no skills" : `it offers ${shortList(offered, 10)}`;
    const advice = close.length === 0 ? all : `did you mean ${close.join(" or ")}?`;
    throw new SkillsError("SKILL_NOT_FOUND", `${source.label} does not offer ${name}; ${advice}`);
  });
}

/** The check of a policy on the signer of a skill from a URL: the reason for not installing it, or undefined. */
type DeniesSigner = (
  skill: { readonly name: string; readonly url: string },
  signature: () => Promise<Signature>,
) => Promise<{ readonly why: string } | undefined>;

export interface Downloading {
  readonly reader: SourceReader;
  /** The level of `acp-skills check` at which an error refuses a skill. Default: a skill is refused if no agent would be offered it. */
  readonly level?: Level | undefined;
  /** The verifier of signatures. Default: the one with the trusted root of this package. */
  readonly signatures?: Signatures | undefined;
  readonly deniesSigner?: DeniesSigner | undefined;
  readonly signal: AbortSignal;
}

/** Downloads and validates a skill. `why` is a sentence about its fault, without its name. */
export async function download(
  remote: RemoteSkill,
  source: SourceUrl,
  { reader, level, signatures = openSignatures(), deniesSigner, signal }: Downloading,
): Promise<Downloaded | { readonly remote: RemoteSkill; readonly why: string }> {
  try {
    if (remote.content.type === "unusable") return { remote, why: remote.content.why };
    const files = await reader.skillFiles(remote, signal);
    const inspected = await inspectSkill(files, remote.name, level);
    const error = level === undefined ? undefined : inspected.problems.find(({ severity }) => severity === "error");
    if (error === undefined) {
      const signature = await signatures.ofFiles(files, inspected.digest);
      const of = { name: inspected.name, url: source.url };
      const denial = await deniesSigner?.(of, () => Promise.resolve(signature));
      return denial === undefined ? { remote, files, inspected, signature } : { remote, why: denial.why };
    }
    return { remote, why: `acp-skills check --level ${level} reports ${error.code}: ${error.message}` };
  } catch (error) {
    signal.throwIfAborted();
    if (isSkillsError(error)) return { remote, why: error.message };
    throw error;
  }
}

/** Downloads and validates many skills, a few at a time. Results are in the order of `remotes`. */
export function downloadAll(
  remotes: readonly RemoteSkill[],
  source: SourceUrl,
  downloading: Downloading,
): Promise<readonly Awaited<ReturnType<typeof download>>[]> {
  return inParallel(remotes, downloadsAtOnce, (remote) => download(remote, source, downloading));
}

/** Whether the signer is the one that the lock pins. */
export function isPinnedSigner({ signer }: Pick<LockEntry, "signer">, signature: Signature): boolean {
  return isSameSigner(signer, signature.state === "signed" ? signature.signer : undefined);
}

/** The terms for signers: whether the user accepts another one than the lock pins, and whether acp-skills asks the user at all. */
export interface SignerTerms {
  readonly allowsSignerChange: boolean;
  readonly isAsked: boolean;
}

/**
 * Why a skill is not installed because of its signer; undefined if it may be. Its signer is not the one that the lock pins, or its
 * signature is invalid and the user is not asked.
 */
export function signerRefusal(
  entry: Pick<LockEntry, "signer"> | undefined,
  signature: Signature,
  { allowsSignerChange, isAsked }: SignerTerms,
): string | undefined {
  const pinned = entry?.signer;
  if (pinned !== undefined && !isPinnedSigner({ signer: pinned }, signature) && !allowsSignerChange) {
    const before = signatureWords({ state: "signed", signer: pinned });
    return `in the lock it is ${before}, now ${signatureWords(signature)}; --allow-signer-change accepts that`;
  }
  if (signature.state !== "invalid" || isAsked) return undefined;
  return `${signatureWords(signature)}; --yes does not answer for that, so install it without`;
}
