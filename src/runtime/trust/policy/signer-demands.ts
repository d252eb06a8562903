import { matchesGlob } from "../../../base/text/name-glob.ts";
import { type Signature, type Signer, signatureWords } from "../../../skills/signature.ts";
import type { NamedSkill } from "../policy.ts";
import type { Denial, PolicyLayer } from "./layers.ts";
import { deniesSource, deniesUrl } from "./rules.ts";

/** A skill on this machine, or one that is about to be installed from a URL. */
export type SignedSkill = NamedSkill | { readonly name: string; readonly url: string };

/**
 * The first demand for a signer that a skill does not satisfy. `signature` is called only if a demand is for the skill. A valid signature
 * never allows more than the demand.
 */
export async function signerDenial(
  layers: readonly PolicyLayer[],
  skill: SignedSkill,
  signature: () => Promise<Signature>,
  home: string,
): Promise<Denial | undefined> {
  for (const layer of layers)
    for (const [index, { source, accept }] of (layer.policy?.signers ?? []).entries()) {
      if (!concerns(source, skill, home)) continue;
      const found = await signature();
      if (found.state === "signed" && accept.some((one) => isAccepted(one, found.signer))) continue;
      const verdict = `denies the skill ${skill.name}, which is ${signatureWords(found)}`.replace(
        "which is signature",
        "whose signature is",
      );
      return { layer, verdict, rule: `signers[${index}] accepts other signers`, path: ["signers", index] };
    }
  return undefined;
}

/** Whether a demand is for a skill. It reaches as far as a denial of the source: any spelling of the URL, and skills installed from it. */
function concerns(source: string, skill: SignedSkill, home: string): boolean {
  if (source === "*") return true;
  return "url" in skill ? deniesUrl(source, skill.url) : deniesSource(source, skill, home);
}

function isAccepted(accepted: Signer, signer: Signer): boolean {
  if ("key" in accepted) return "key" in signer && accepted.key === signer.key;
  if ("key" in signer) return false;
  return accepted.issuer === signer.issuer && matchesGlob(accepted.identity, signer.identity);
}
