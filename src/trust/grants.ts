/** What a run can need beyond its sandbox. */
export const permissionNames = ["network", "secrets", "project-read", "project-write"] as const;

/** No option of the configuration grants "isolation". */
export type Permission = (typeof permissionNames)[number] | "isolation";

/** What a skill's manifest requests. */
interface Asked {
  readonly network: readonly string[];
  readonly secrets: readonly string[];
  readonly project: "none" | "read" | "write";
}

/**
 * What the configuration allows, by skill. A grant names a skill and kinds of permissions; it covers the hosts, secrets and project
 * access that the skill requested when it was first seen. Names are canonical names or slugs.
 */
export interface Grants {
  /** Slugs of the skills that have a grant. */
  readonly skills: readonly string[];
  /** Pins what the versions of a skill request. Only the first call counts: later versions may request no more than these together. */
  pin(skill: string, versions: readonly Asked[]): void;
  /** Of these, the ones not granted to the skill. */
  missing(skill: string, needed: readonly Permission[]): readonly Permission[];
  /** What goes beyond what was pinned, in words such as `the host https://example.org`. Pins what was not pinned yet. */
  beyond(skill: string, asked: Asked): readonly string[];
}

const grantForm = /^([a-z0-9]+(?:[.-][a-z0-9]+)*):([a-z-]+(?:,[a-z-]+)*)$/;

/** Parses `NAME:network,secrets,project-read,project-write`; undefined for anything else. */
export function parseGrant(
  text: string,
): { readonly skill: string; readonly permissions: readonly Permission[] } | undefined {
  const [, skill, list] = grantForm.exec(text) ?? [];
  const permissions = list?.split(",").map((word) => permissionNames.find((name) => name === word));
  return skill === undefined || permissions === undefined || !permissions.every((name) => name !== undefined)
    ? undefined
    : { skill, permissions };
}

/** From the texts of the configuration. Text that cannot be parsed grants nothing. */
export function createGrants(texts: readonly string[]): Grants {
  const granted = new Map<string, Set<Permission>>();
  const pinned = new Map<string, readonly Asked[]>();
  for (const text of texts) {
    const { skill = "", permissions = [] } = parseGrant(text) ?? {};
    const all = granted.get(toSlug(skill)) ?? new Set();
    for (const permission of permissions) all.add(permission);
    if (all.has("project-write")) all.add("project-read");
    if (all.size > 0) granted.set(toSlug(skill), all);
  }

  function pin(skill: string, versions: readonly Asked[]): readonly Asked[] {
    const before = pinned.get(toSlug(skill));
    if (before === undefined) pinned.set(toSlug(skill), versions);
    return before ?? versions;
  }

  return {
    skills: [...granted.keys()],
    pin: (skill, versions) => void pin(skill, versions),
    missing: (skill, needed) => {
      const all = granted.get(toSlug(skill));
      return needed.filter((permission) => all?.has(permission) !== true);
    },
    beyond(skill, asked) {
      const before = pin(skill, [asked]);
      const isNew = (kind: "network" | "secrets") => (one: string) =>
        !before.some((known) => known[kind].includes(one));
      const isWider = !before.some(({ project }) => uses.indexOf(project) >= uses.indexOf(asked.project));
      return [
        ...asked.network.filter(isNew("network")).map((host) => `the host ${host}`),
        ...asked.secrets.filter(isNew("secrets")).map((name) => `the secret ${name}`),
        ...(isWider ? [`${asked.project} access to the project`] : []),
      ];
    },
  };
}

const uses: readonly Asked["project"][] = ["none", "read", "write"];

/** Slugs are unique in a catalog (CONTRACT C-1.2). */
function toSlug(name: string): string {
  return name.replaceAll(".", "-");
}
