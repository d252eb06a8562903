import { type Steps, runInSlices } from "../../base/promises.ts";
import type { Authorization, TrustRequest } from "../trust.ts";
import { type Capabilities, isNothing } from "../../skills/permissions.ts";
import type { Subject } from "./grants.ts";
import type { Policy } from "./policy.ts";

/** How a skill stands: whether it can be used now. */
export type Standing = "ready" | "needs-approval" | "blocked" | "denied";

export interface StandingSkill {
  readonly subject: Omit<Subject, "digest">;
  /** What its runs need. */
  readonly needs: Capabilities;
  /** Whether it has code that runs, which a policy may demand an approval for. */
  readonly hasCode: boolean;
  /** Called only for skills that may need an approval; undefined if its files cannot be read. */
  readonly digest: () => Promise<string | undefined>;
}

interface Deciding {
  readonly policy: Pick<Policy, "approvals" | "denies" | "runs">;
  readonly blocked: ReadonlySet<StandingSkill["subject"]>;
  readonly decide: (request: TrustRequest) => Promise<Authorization | undefined>;
}

/** How each skill stands. Most are decided by their names alone; files are hashed only of those that want something. */
export async function standingsOf(skills: readonly StandingSkill[], deciding: Deciding): Promise<readonly Standing[]> {
  const { policy, blocked, decide } = deciding;
  const standings: Standing[] = [];

  async function findByDigest({ subject, needs, digest: digestOf }: StandingSkill, place: number): Promise<void> {
    const digest = await digestOf();
    if (digest === undefined) return;
    const decided = await decide({ subject: { ...subject, digest }, needs, wants: needs });
    if (decided?.allowed === true) standings[place] = "ready";
  }

  function* find(): Steps<void> {
    for (const [place, skill] of skills.entries()) {
      const { subject, needs, hasCode } = skill;
      const isDenied = policy.denies(subject, needs) !== undefined;
      if (isDenied) standings[place] = "denied";
      else if (blocked.has(subject)) standings[place] = "blocked";
      else if (isNothing(needs) && (!hasCode || (policy.runs === "sandbox" && subject.origin === undefined)))
        standings[place] = "ready";
      else {
        // Then nobody can approve it.
        standings[place] = policy.approvals === "none" ? "denied" : "needs-approval";
        yield findByDigest(skill, place);
      }
      yield;
    }
  }

  await runInSlices(find());
  return standings;
}
