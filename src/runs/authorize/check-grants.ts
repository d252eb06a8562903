import { SkillsError } from "../../errors.ts";
import type { Permissions } from "../../skills/manifest/metadata-permissions.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import type { Grants, Permission } from "../../trust/grants.ts";
import { permissionsOf } from "../../skills/manifest/permissions-of.ts";
import { indexOf } from "../../tools/view/skill-index.ts";

/** What a skill needs a person's word for. */
export function neededBy({ network, secrets, project }: Permissions): readonly Permission[] {
  return [
    ...(network.length > 0 ? (["network"] as const) : []),
    ...(secrets.length > 0 ? (["secrets"] as const) : []),
    ...(project === "none" ? [] : ([`project-${project}`] as const)),
  ];
}

/**
 * A grant that names a skill is given when the process first sees that skill in a root of the person's own: it allows what the manifest
 * asks for then, however the file changes later.
 */
export function pinGrants(grants: Grants, snapshot: Snapshot): void {
  for (const slug of grants.skills) {
    const offer = indexOf(snapshot).find(slug);
    if (offer?.isOwn === true) grants.pin(slug, offer.versions.map(permissionsOf));
  }
}

/** Throws PERMISSION_DENIED where a person's word is needed for something that it was not given for (CONTRACT C-1.6, C-5.2). */
export function checkGrants(
  { name, slug }: Skill,
  permissions: Permissions,
  { grants, isOwn }: { readonly grants: Grants; readonly isOwn: boolean },
): void {
  const needed = neededBy(permissions);
  if (needed.length === 0) return;
  const missing = isOwn ? grants.missing(slug, needed) : needed;
  // Of several skills with one name only the first has the slug of that name.
  const option = `--grant ${name.replaceAll(".", "-") === slug ? name : slug}:${(missing.length > 0 ? missing : needed).join(",")}`;
  if (!isOwn) {
    const message = `The skill ${name} asks ${wants(needed, permissions)}, and came with the project: no grant counts for it.`;
    const hint = `A person who trusts it can name its directory with --skills, and grant it with ${option}`;
    throw new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
  }
  if (missing.length > 0) {
    const message = `The skill ${name} asks ${wants(missing, permissions)}, which was not granted.`;
    throw new SkillsError("PERMISSION_DENIED", message, { facts: { hint: `A person can grant it with ${option}` } });
  }
  const beyond = grants.beyond(slug, permissions);
  if (beyond.length === 0) return;
  const message = `The skill ${name} has changed, and asks for more than when it was granted: ${beyond.join(", ")}.`;
  const hint = `A person who agrees can end acp-skills and start it again with ${option}`;
  throw new SkillsError("PERMISSION_DENIED", message, { facts: { hint } });
}

function wants(kinds: readonly Permission[], { network, secrets }: Permissions): string {
  return [
    kinds.includes("network") ? `to use the network (${network.join(", ")})` : "",
    kinds.includes("secrets") ? `to use secrets (${secrets.join(", ")})` : "",
    kinds.includes("project-read") ? "to read the project" : "",
    kinds.includes("project-write") ? "to read and change the project" : "",
  ]
    .filter((want) => want !== "")
    .join(" and ");
}
