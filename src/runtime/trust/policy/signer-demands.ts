import { matchesGlob } from "../../../base/text/name-glob.ts";
import { type Signature, type Signer, signatureWords } from "../../../skills/signature.ts";
import type { NamedSkill } from "../policy.ts";
import type { Denial, PolicyLayer } from "./layers.ts";
import { deniesSource, deniesUrl } from "./rules.ts";

/** A skill that is here, or what is about to be installed from a URL. */
export type SignedSkill = NamedSkill | { readonly name: string; readonly url: string };

/**
 * What a layer demands of who signed a skill and is not so. `signature` is called only where something is demanded. A valid signature
 * is never more than what was demanded.
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

/** A demand counts as widely as a denial of the source would: however its URL is spelt, and for what was installed from there. */
function concerns(source: string, skill: SignedSkill, home: string): boolean {
  if (source === "*") return true;
  return "url" in skill ? deniesUrl(source, skill.url) : deniesSource(source, skill, home);
}

function isAccepted(accepted: Signer, signer: Signer): boolean {
  if ("key" in accepted) return "key" in signer && accepted.key === signer.key;
  if ("key" in signer) return false;
  return accepted.issuer === signer.issuer && matchesGlob(accepted.identity, signer.identity);
}
