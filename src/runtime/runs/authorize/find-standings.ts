import type { SkillSource } from "../../../skills/files.ts";
import type { SkillHasher } from "../../../skills/hash.ts";
import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import type { Asker, Trust } from "../../trust.ts";
import type { Standing } from "../../trust/standings.ts";
import { subjectOfOffered } from "./trust-request.ts";
import { needsOf } from "../../../skills/permissions.ts";

/** The skills that cannot be used now, and why. */
export type Standings = ReadonlyMap<Skill, Exclude<Standing, "ready">>;

/** Finds out how skills stand, without asking anybody. Rejects with the reason of `signal`. */
export async function findStandings(
  offered: readonly OfferedSkill[],
  {
    trust,
    source,
    hasher,
    asker,
    signal,
  }: {
    readonly trust: Pick<Trust, "standings">;
    readonly source: SkillSource;
    readonly hasher: Pick<SkillHasher, "hash">;
    readonly asker: Pick<Asker, "owner" | "directory">;
    readonly signal: AbortSignal;
  },
): Promise<Standings> {
  const asked = offered.map((found) => ({
    subject: subjectOfOffered(found, source),
    needs: needsOf(found.skill),
    hasCode: found.skill.kind === "action",
    digest: async () => (await hasher.hash(source, found.skill.directory, signal)).digest,
  }));
  const found = await trust.standings(asked, asker);
  const standings = new Map<Skill, Exclude<Standing, "ready">>();
  for (const [index, { skill }] of offered.entries()) {
    const standing = found[index];
    if (standing !== undefined && standing !== "ready") standings.set(skill, standing);
  }
  return standings;
}
