import type { Permissions } from "../../skills/manifest/permissions.ts";
import { permissionsOf } from "../../skills/manifest/permissions.ts";
import type { Snapshot } from "../../skills/skill.ts";
import type { Grants, Permission } from "../../trust/grants.ts";
import type { RunCaller } from "../run-caller.ts";
import type { RunSpec } from "../run-spec.ts";

/** Whether a run may start: by which grant, or why not and what the user can do. */
export type Authorization =
  /** `by` is `sandbox` for a run that needs nothing beyond its sandbox, else the grant, such as `deploy:network`. */
  | { readonly allowed: true; readonly by: string }
  | { readonly allowed: false; readonly why: string; readonly hint: string };

/** What a skill needs a grant for. */
export function neededBy({ network, secrets, project, isolation }: Permissions): readonly Permission[] {
  return [
    ...(network.length > 0 ? (["network"] as const) : []),
    ...(secrets.length > 0 ? (["secrets"] as const) : []),
    ...(project === "none" ? [] : ([`project-${project}`] as const)),
    ...(isolation === undefined ? [] : (["isolation"] as const)),
  ];
}

/** Decides whether a run may start. Nothing else looks at grants (CONTRACT C-1.6, C-5.2). */
export function authorize(
  { skill, needs }: Pick<RunSpec, "skill" | "needs">,
  caller: Pick<RunCaller, "skills">,
  grants: Grants,
): Authorization {
  const needed = neededBy(needs);
  if (skill === undefined || needed.length === 0) return { allowed: true, by: "sandbox" };
  const { name, slug, version } = skill;
  const isOwn = caller.skills.isOwn(caller.skills.find(slug, version).skill);
  const missing = isOwn ? grants.missing(slug, needed) : needed;
  // Of several skills with one name only the first has the slug of that name.
  const shownName = name.replaceAll(".", "-") === slug ? name : slug;
  const grant = `${shownName}:${(missing.length > 0 ? missing : needed).join(",")}`;
  if (!isOwn) {
    return {
      allowed: false,
      why: `The skill ${name} requests ${inWords(needed, needs)}, but it came with the project: grants apply only to the user's own skills.`,
      hint: `If the user trusts it, they can add its directory with --skills and grant it with --grant ${grant}`,
    };
  }
  if (missing.length > 0) {
    return {
      allowed: false,
      why: `The skill ${name} requests ${inWords(missing, needs)}, which has not been granted.`,
      hint: `The user can grant it with --grant ${grant}`,
    };
  }
  const beyond = grants.beyond(slug, needs);
  if (beyond.length === 0) return { allowed: true, by: grant };
  return {
    allowed: false,
    why: `The skill ${name} changed and now requests more than was granted: ${beyond.join(", ")}.`,
    hint: `To accept this, the user can restart acp-skills with --grant ${grant}`,
  };
}

function inWords(kinds: readonly Permission[], { network, secrets }: Permissions): string {
  const words: Readonly<Record<Permission, string>> = {
    network: `network access (${network.join(", ")})`,
    secrets: `secrets (${secrets.join(", ")})`,
    "project-read": "read access to the project",
    "project-write": "write access to the project",
    isolation: "to run without a sandbox",
  };
  return kinds.map((kind) => words[kind]).join(" and ");
}

/**
 * Grants of the configuration apply to what a skill's manifest requests when the process first sees it in one of the user's own roots,
 * however the file changes later. The returned function is told the skills of each call.
 */
export function pinsGrants(grants: Grants): (snapshot: Snapshot) => void {
  const seen = new WeakSet<Snapshot>();
  return (snapshot) => {
    if (grants.skills.length === 0 || seen.has(snapshot)) return;
    seen.add(snapshot);
    const granted = new Set(grants.skills);
    for (const { skill, isOwn, versions } of snapshot.skills) {
      if (isOwn === true && granted.has(skill.slug)) grants.pin(skill.slug, versions.map(permissionsOf));
    }
  };
}
