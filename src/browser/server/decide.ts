import { localOwner } from "../../runtime/caller.ts";
import { SkillsError } from "../../base/errors.ts";
import { type LedgerEntry, whoAndWhere } from "../../runtime/ledger.ts";
import { inShort } from "../../skills/permissions.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import type { Ask } from "../../runtime/question.ts";
import type { Authorization, FullTrustRequest } from "../../runtime/trust.ts";
import { offeredToJudged } from "../../runtime/runs.ts";
import type { DecisionRequest } from "../wire/skills.ts";
import type { BrowseContext } from "./browse-context.ts";
import { requestOf } from "./detail/show-skill.ts";
import { LimitedMap } from "../../base/limited-map.ts";

type Deciding = Pick<BrowseContext, "app" | "session" | "skills" | "once" | "directory">;

/** Carries out a decision; callers check first that it is about the bytes shown. Rejects with PERMISSION_DENIED if a policy forbids it. */
export async function decide(
  { decision, digest, grant, reach }: Omit<DecisionRequest, "nonce">,
  offered: OfferedSkill,
  context: Deciding,
  signal: AbortSignal,
): Promise<void> {
  const { app, once, directory } = context;
  const { skill } = offered;
  const { name, version } = skill;
  const trust = await app.trust();
  const caller = { owner: localOwner, directory, transport: "browser" };
  const ofSkill = { skill: name, version, ...(digest !== undefined && { digest }) };
  const entrySkill = { ...whoAndWhere({ project: directory }), ...ofSkill };
  const record = (entry: Pick<LedgerEntry, "event"> & Partial<LedgerEntry>): void =>
    void app.ledger.record({ at: Date.now(), tool: "approvals", ...entrySkill, door: "browser", ...entry });
  const exactly = (): FullTrustRequest => {
    if (digest !== undefined) return requestOf(context, { skill, digest }, signal);
    throw new SkillsError("SKILL_NOT_READY", `The files of ${name} cannot all be read: it cannot be approved.`);
  };

  switch (decision) {
    case "approve": {
      const request = exactly();
      const about = inShort(request.wants);
      const notify = (outcome: Authorization): void => {
        if (outcome.allowed && outcome.by !== "once")
          record({ event: "answer", outcome: "allowed", answer: "trust", grant: outcome.by, about });
      };
      const authorization = await trust.answered(request, caller, { answer: "trust" }, { reach, notify });
      if (!authorization.allowed) throw denied(authorization);
      const why = `The policy lets you approve ${name} for one run only.`;
      if (authorization.by === "once") throw denied({ why, hint: "Allow it once, then run it." });
      break;
    }
    case "once": {
      const request = exactly();
      const decided = await trust.decide(request, caller);
      if (decided === undefined) once.allow({ name, digest: request.skill.digest });
      else if (!decided.allowed) throw denied(decided);
      break;
    }
    case "block": {
      // A block is for all versions, so a skill that cannot be read gets a digest of zeros.
      const request = requestOf(context, { skill, digest: digest ?? `sha256:${"0".repeat(64)}` }, signal);
      const notify = (): void => record({ event: "answer", outcome: "denied", answer: "block" });
      await trust.answered(request, caller, { answer: "block" }, { notify });
      break;
    }
    case "unblock": {
      const blocksOf = offeredToJudged(offered, app.source);
      await trust.takeBack({ blocksOf }, caller, () => record({ event: "revoke", about: "block" }));
      break;
    }
    case "revoke":
      if (grant === undefined) throw new SkillsError("VALIDATION_ERROR", "Name the grant to revoke.");
      await trust.takeBack({ grant }, caller, () => record({ event: "revoke", grant }));
  }
  await context.skills.refreshStandings();
}

function denied({ why, hint }: { readonly why: string; readonly hint: string }): SkillsError {
  return new SkillsError("PERMISSION_DENIED", why, { facts: { hint } });
}

/** A version of a skill, by its canonical name. */
interface Version {
  readonly name: string;
  readonly digest: string;
}

const maxAllowed = 1_000;

/** The versions of skills whose next run from the page the user allowed: held in memory, each used once. */
export class AllowedNext {
  readonly #allowed = new LimitedMap<string, true>(maxAllowed);

  allow(version: Version): void {
    this.#allowed.set(keyOf(version), true);
  }

  /** Whether the version was allowed. The call uses the permission up. */
  take(version: Version): boolean {
    return this.#allowed.delete(keyOf(version));
  }
}

function keyOf({ name, digest }: Version): string {
  return JSON.stringify([name, digest]);
}

/**
 * Answers the questions about one run of the page. If the run was allowed, the first question about exactly this version is answered with
 * `once`. Nobody answers other questions, because the user decides on the page before a run.
 */
export function askForRun({ name, digest }: Version, isAllowed: boolean): Ask {
  let isOpen = isAllowed;
  return ({ about, skill }) => {
    const isIt = about === "run" && skill?.name === name && skill.digest === digest;
    if (!isOpen || !isIt) return Promise.resolve({ missing: "nobody" });
    isOpen = false;
    return Promise.resolve({ answer: "once" });
  };
}
