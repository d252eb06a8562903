/** What a run can need that its sandbox does not give by itself. */
export const permissionNames = ["network", "secrets", "project-read", "project-write"] as const;

export type Permission = (typeof permissionNames)[number];

/** What the configuration allows, by skill. */
export interface Grants {
  /** Of these, the ones that the skill was not granted. Names are canonical. */
  missing(skill: string, needed: readonly Permission[]): readonly Permission[];
}

const grantForm = /^([a-z0-9]+(?:[.-][a-z0-9]+)*):([a-z-]+(?:,[a-z-]+)*)$/;

/** What `NAME:network,secrets,project-read,project-write` says; undefined for anything else. */
export function parseGrant(
  text: string,
): { readonly skill: string; readonly permissions: readonly Permission[] } | undefined {
  const [, skill, list] = grantForm.exec(text) ?? [];
  const permissions = list?.split(",").map((word) => permissionNames.find((name) => name === word));
  return skill === undefined || permissions === undefined || !permissions.every((name) => name !== undefined)
    ? undefined
    : { skill, permissions };
}

/** Grants as the configuration words them; a name may be the canonical one or the slug. What cannot be read grants nothing. */
export function openGrants(texts: readonly string[]): Grants {
  const granted = new Set<string>();
  for (const text of texts) {
    const grant = parseGrant(text);
    for (const permission of grant?.permissions ?? []) {
      granted.add(`${toSlug(grant?.skill ?? "")}:${permission}`);
      if (permission === "project-write") granted.add(`${toSlug(grant?.skill ?? "")}:project-read`);
    }
  }
  return { missing: (skill, needed) => needed.filter((permission) => !granted.has(`${toSlug(skill)}:${permission}`)) };
}

/** Slugs are unique in a catalog (CONTRACT C-1.2). */
function toSlug(name: string): string {
  return name.replaceAll(".", "-");
}
