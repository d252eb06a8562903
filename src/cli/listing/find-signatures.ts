import { diskSkillBytes, diskSkillFiles } from "../../skills/files.ts";
import { createSkillHasher } from "../../skills/hash.ts";
import { type Signature, openSignatures } from "../../skills/signature.ts";
import type { OfferedSkill, Skill } from "../../skills/skill.ts";
import type { ProgressOutput } from "../report/terminal.ts";

/** Verifies the signatures of skills; skills without one are absent. Throws INVALID_OPTIONS for an unusable trusted root. */
export async function findSignatures(
  offered: readonly OfferedSkill[],
  trustedRoot: string | undefined,
  { progress }: ProgressOutput,
): Promise<ReadonlyMap<Skill, Signature>> {
  const signatures = openSignatures(trustedRoot);
  await signatures.check();
  const hasher = createSkillHasher();
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const found = new Map<Skill, Signature>();
  for (const { skill } of offered) {
    if (skill.hasSignature !== true) continue;
    progress.show(`verifying the signature of ${skill.slug}`);
    const hashed = await hasher.hash(source, skill.directory, new AbortController().signal).catch(() => undefined);
    found.set(skill, await signatures.of(source, skill, hashed?.digest));
  }
  progress.done();
  return found;
}
