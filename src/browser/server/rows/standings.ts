import type { App } from "../../../runtime/app.ts";
import { findStandings } from "../../../runtime/runs/authorize/find-standings.ts";
import type { Standings } from "../../../runtime/runs/authorize/find-standings.ts";
import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import type { Asker } from "../../../runtime/trust/authorization.ts";
import type { Approvals } from "../../../runtime/trust/grants/approvals.ts";

/** Why skills cannot be used now. */
export interface SkillStandings {
  readonly standings: Standings;
  /** Of those that need approval: whose earlier version was approved. */
  readonly wereApproved: ReadonlySet<Skill>;
}

export const nothingStands: SkillStandings = { standings: new Map(), wereApproved: new Set() };

/** Finds out how skills stand: files are hashed only of those that want something. Rejects with the reason of `signal`. */
export async function readStandings(
  skills: readonly OfferedSkill[],
  {
    app,
    asker,
    signal,
  }: { readonly app: App; readonly asker: Pick<Asker, "owner" | "directory">; readonly signal: AbortSignal },
): Promise<SkillStandings> {
  const trust = await app.trust();
  const { source, hasher } = app;
  const standings = await findStandings(skills, { trust, source, hasher, asker, signal });
  const approved = digestsOf(await trust.approvalsFor(asker.directory));
  const wereApproved = new Set<Skill>();
  for (const [skill, standing] of standings) {
    const digests = standing === "needs-approval" ? approved.get(skill.name) : undefined;
    if (digests === undefined) continue;
    const { digest } = await hasher.hash(source, skill.directory, signal);
    // With its own digest, a grant has expired or covers less.
    if ([...digests].some((other) => other !== digest)) wereApproved.add(skill);
  }
  return { standings, wereApproved };
}

function digestsOf(approvals: readonly Approvals[]): ReadonlyMap<string, ReadonlySet<string>> {
  const digests = new Map<string, Set<string>>();
  for (const { skill, digest, calledBy } of approvals.flatMap(({ grants }) => grants))
    if (calledBy === undefined) digests.set(skill, (digests.get(skill) ?? new Set()).add(digest));
  return digests;
}
