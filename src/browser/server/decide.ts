import { localOwner } from "../../runtime/caller.ts";
import { SkillsError } from "../../base/errors.ts";
import { type LedgerEntry, whoAndWhere } from "../../runtime/ledger.ts";
import { inShort } from "../../skills/permissions.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import { shortDigest, type Ask } from "../../runtime/question.ts";
import type { Authorization, FullTrustRequest } from "../../runtime/trust.ts";
import { subjectOfOffered } from "../../runtime/runs.ts";
import type { DecisionResponse, DecisionRequest } from "../wire/skills.ts";
import type { BrowseDoor } from "./browse-door.ts";
import { requestOf } from "./detail/show-skill.ts";
import { LimitedMap } from "../../base/limited-map.ts";

/** A decision whose nonce was checked. */
interface CheckedDecision {
  readonly decision: DecisionRequest["decision"];
  readonly digest?: string | undefined;
  readonly grant?: string | undefined;
  readonly reach?: DecisionRequest["reach"] | undefined;
}

type Deciding = Pick<BrowseDoor, "app" | "session" | "skills" | "once" | "directory">;

/** A decision about bytes that were shown, which the caller has checked. Throws PERMISSION_DENIED where a policy does not allow it. */
export async function decide(
  { decision, digest, grant, reach }: CheckedDecision,
  offered: OfferedSkill,
  door: Deciding,
  signal: AbortSignal,
): Promise<DecisionResponse> {
  const { app, once, directory } = door;
  const { skill } = offered;
  const trust = await app.trust();
  const asker = { owner: localOwner, directory, door: "browser" };
  const { name, version } = skill;
  const subject = {
    ...whoAndWhere({ project: directory }),
    skill: name,
    version,
    ...(digest !== undefined && { digest }),
  };
  const record = (entry: Pick<LedgerEntry, "event"> & Partial<LedgerEntry>): void => {
    app.ledger.record({ at: Date.now(), tool: "approvals", ...subject, door: "browser", ...entry });
  };

  async function approve(request: FullTrustRequest): Promise<DecisionResponse> {
    const notify = (outcome: Authorization): void => {
      if (outcome.allowed && outcome.by !== "once")
        record({
          event: "answer",
          outcome: "allowed",
          answer: "trust",
          grant: outcome.by,
          about: inShort(request.wants),
        });
    };
    const authorization = await trust.answered(request, asker, { answer: "trust" }, { reach, notify });
    refuseUnless(authorization);
    const { by } = authorization;
    if (by === "once") {
      const why = `The policy lets you approve ${name} for one run only.`;
      throw denied({ why, hint: "Allow it once, then run it." });
    }
    const isForSession = by === "session";
    return {
      message: `Approved ${version} (${shortDigest(request.subject.digest)})${isForSession ? " until this page's server ends" : ""}.`,
    };
  }

  async function allowOnce(request: FullTrustRequest): Promise<DecisionResponse> {
    const decided = await trust.decide(request, asker);
    if (decided !== undefined) refuseUnless(decided);
    if (decided?.allowed !== true) once.allow({ name, digest: request.subject.digest });
    return {
      message: `The next run of ${version} (${shortDigest(request.subject.digest)}) from this page is allowed.`,
    };
  }

  async function block(): Promise<DecisionResponse> {
    // A block is for all versions, also of a skill that cannot be read.
    const request = requestOf(door, { skill, digest: digest ?? `sha256:${"0".repeat(64)}` }, signal);
    const notify = (): void => record({ event: "answer", outcome: "denied", answer: "block" });
    await trust.answered(request, asker, { answer: "block" }, { notify });
    const [standing] = await trust.standings(
      [{ subject: request.subject, needs: request.needs, hasCode: true, digest: () => Promise.resolve(undefined) }],
      asker,
    );
    if (standing === "blocked" || standing === "denied") return { message: `Blocked ${name}.` };
    return { message: `Blocked ${name} until this page's server ends; the log says why that could not be stored.` };
  }

  async function takeBack(): Promise<DecisionResponse> {
    const isUnblocking = decision === "unblock";
    if (!isUnblocking && grant === undefined) throw new SkillsError("VALIDATION_ERROR", "Name the grant to revoke.");
    const what = isUnblocking ? { blocksOf: subjectOfOffered(offered, app.source) } : { grant: grant ?? "" };
    const notify = (): void =>
      record({ event: "revoke", ...(isUnblocking ? { about: "block" } : { grant: grant ?? "" }) });
    const isFound = await trust.takeBack(what, asker, notify);
    if (!isFound)
      return { message: isUnblocking ? `${name} was not blocked.` : `There is no grant ${grant ?? ""} any more.` };
    return { message: isUnblocking ? `${name} is no longer blocked.` : `Revoked ${grant ?? ""}.` };
  }

  const exactly = (): FullTrustRequest => {
    if (digest !== undefined) return requestOf(door, { skill, digest }, signal);
    throw new SkillsError("SKILL_NOT_READY", `The files of ${name} cannot all be read: it cannot be approved.`);
  };
  const decided = await (decision === "approve"
    ? approve(exactly())
    : decision === "once"
      ? allowOnce(exactly())
      : decision === "block"
        ? block()
        : takeBack());
  await door.skills.refreshStandings();
  return decided;
}

function refuseUnless(
  authorization: Authorization,
): asserts authorization is Extract<Authorization, { allowed: true }> {
  if (!authorization.allowed) throw denied(authorization);
}

function denied({ why, hint }: { readonly why: string; readonly hint: string }): SkillsError {
  return new SkillsError("PERMISSION_DENIED", why, { facts: { hint } });
}

/** A version of a skill, by its canonical name. */
interface Version {
  readonly name: string;
  readonly digest: string;
}

/** What a person allowed for the next run of a skill from this page: held in memory, used once. */
export interface AllowedNext {
  readonly allow: (version: Version) => void;
  /** Whether it was allowed; it no longer is afterwards. */
  readonly take: (version: Version) => boolean;
}

const most = 1_000;

export function createAllowedNext(): AllowedNext {
  const allowed = new LimitedMap<string, true>(most);
  const keyOf = ({ name, digest }: Version): string => JSON.stringify([name, digest]);
  return {
    allow: (version) => allowed.set(keyOf(version), true),
    take: (version) => allowed.delete(keyOf(version)),
  };
}

/**
 * Answers the questions about one run of the page: the first one about exactly this version with `once` if that was allowed; nobody answers
 * others, because the person decides on the page before a run.
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
