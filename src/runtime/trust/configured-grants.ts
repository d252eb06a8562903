import { type Capabilities, noCapabilities, together } from "../../skills/permissions.ts";
import type { Subject } from "./grants.ts";
import { type ConfiguredGrant, type PermissionName, parseGrant } from "../../wire/grant-text.ts";

/** A skill that the process sees, before it is known which bytes it has. */
interface SeenSkill {
  readonly name: string;
  readonly slug: string;
  readonly isOwn: boolean;
  /** Absolute real path. */
  readonly directory: string;
}

/** What the configuration allows. Grants by name and by path count for the bytes that were there when they were first seen. */
export interface ConfiguredGrants {
  readonly isEmpty: boolean;
  /** Whether a grant by name or path is for this skill, so that its bytes must be pinned. */
  concerns(skill: SeenSkill): boolean;
  /** Pins the bytes of a skill that a grant concerns. */
  pin(skill: SeenSkill, digest: string, wants: Capabilities): void;
  /** All skills of a moment were pinned: what has the name of one of them later is another skill. */
  settle(): void;
  /** What is granted to exactly this version, and the texts that do. `wants`: all that it declares. */
  capabilitiesOf(
    subject: Subject,
    wants: Capabilities,
  ): { readonly capabilities: Capabilities; readonly texts: string } | undefined;
  /** Whether models may read the skills of a project. */
  trusts(project: string): boolean;
}

interface Granted {
  readonly capabilities: Capabilities;
  /** As it was given. */
  readonly text: string;
}

/** From the texts of the configuration, paths as real paths. Text that cannot be parsed grants nothing. */
export function createConfiguredGrants(texts: readonly string[]): ConfiguredGrants {
  const grants = texts.flatMap((text) => {
    const grant = parseGrant(text);
    return grant === undefined ? [] : [{ ...grant, text }];
  });
  /** By canonical name and digest. */
  const pinned = new Map<string, Granted[]>();
  /** Grants by name whose skills were seen, now and before. */
  const used = new Set<ConfiguredGrant>();
  const settled = new Set<ConfiguredGrant>();

  return {
    isEmpty: grants.length === 0,
    concerns: (skill) => grants.some((grant) => !settled.has(grant) && isFor(grant, skill)),
    pin(skill, digest, wants) {
      const key = JSON.stringify([skill.name, digest]);
      for (const grant of grants.filter((one) => !settled.has(one) && isFor(one, skill))) {
        const kinds = grant.form === "path" ? undefined : grant.kinds;
        if (grant.form === "name") used.add(grant);
        const before = (pinned.get(key) ?? []).filter(({ text }) => text !== grant.text);
        pinned.set(key, [...before, { capabilities: ofKinds(wants, kinds), text: grant.text }]);
      }
    },
    settle() {
      for (const grant of used) settled.add(grant);
    },
    capabilitiesOf({ name, slug, digest }, wants) {
      const byDigest = grants.flatMap((grant) => {
        return grant.form === "digest" && grant.digest === digest && isNamed(grant.skill, { name, slug })
          ? [{ capabilities: ofKinds(wants, grant.kinds), text: grant.text }]
          : [];
      });
      const all: readonly Granted[] = [...byDigest, ...(pinned.get(JSON.stringify([name, digest])) ?? [])];
      if (all.length === 0) return undefined;
      const capabilities = together(all.map((granted) => granted.capabilities));
      return { capabilities, texts: all.map(({ text }) => text).join(" ") };
    },
    trusts: (project) => grants.some((grant) => grant.form === "path" && grant.path === project),
  };
}

/** A bare name never reaches a skill of a project. */
function isFor(grant: ConfiguredGrant, skill: SeenSkill): boolean {
  if (grant.form === "path") return grant.path === skill.directory;
  return grant.form === "name" && skill.isOwn && isNamed(grant.skill, skill);
}

function isNamed(given: string, { name, slug }: Pick<SeenSkill, "name" | "slug">): boolean {
  return given === name || given === slug;
}

/** What a skill declares, reduced to these kinds. */
function ofKinds(wants: Capabilities, kinds: readonly PermissionName[] | undefined): Capabilities {
  if (kinds === undefined) return wants;
  const { network, secrets, project } = wants;
  const write = kinds.includes("project-write");
  const read = write || kinds.includes("project-read");
  return {
    ...noCapabilities,
    network: kinds.includes("network") ? network : [],
    secrets: kinds.includes("secrets") ? secrets : [],
    project: project === "write" && write ? "write" : project !== "none" && read ? "read" : "none",
  };
}
