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
import type { Source } from "../source.ts";
import type { RemoteIndex, RemoteSkill, SkillFile, SourceReader } from "../reader.ts";

/** A skill of a source, downloaded and validated. */
export interface Downloaded {
  readonly remote: RemoteSkill;
  readonly files: readonly SkillFile[];
  readonly inspected: InspectedSkill;
  readonly signature: Signature;
}

const downloadsAtOnce = 4;

/** The skills of these names. Throws SKILL_NOT_FOUND with the nearest names. */
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

/** Why a skill of a URL is not installed because of who signed it, as a policy has it; undefined if it is. */
type DeniesSigner = (
  skill: { readonly name: string; readonly url: string },
  signature: () => Promise<Signature>,
) => Promise<{ readonly why: string } | undefined>;

export interface Downloading {
  readonly reader: SourceReader;
  /** One with an error at this level of `acp-skills check` is refused; default: only what no agent would be offered is. */
  readonly level?: Level | undefined;
  /** Who signed a skill is verified by these. Default: by the trusted root of this package. */
  readonly signatures?: Signatures | undefined;
  readonly deniesSigner?: DeniesSigner | undefined;
  readonly signal: AbortSignal;
}

/** Downloads and validates a skill. What is wrong with it is `why`, a sentence without its name. */
export async function download(
  remote: RemoteSkill,
  source: Pick<Source, "url">,
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

/** Downloads and validates many, a few at a time; results are in their order. */
export function downloadAll(
  remotes: readonly RemoteSkill[],
  source: Pick<Source, "url">,
  downloading: Downloading,
): Promise<readonly Awaited<ReturnType<typeof download>>[]> {
  return inParallel(remotes, downloadsAtOnce, (remote) => download(remote, source, downloading));
}

/** Whether the signer is whom the lock pins. */
export function isPinnedSigner({ signer }: Pick<LockEntry, "signer">, signature: Signature): boolean {
  return isSameSigner(signer, signature.state === "signed" ? signature.signer : undefined);
}

/** Whether a person accepts another signer than the lock pins, and whether one is asked at all. */
export interface SignerTerms {
  readonly allowsSignerChange: boolean;
  readonly isAsked: boolean;
}

/**
 * Why a skill is not installed because of who signed it: another signer than the lock pins, or none; or, where nobody is asked, a signature
 * that proves nothing.
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
