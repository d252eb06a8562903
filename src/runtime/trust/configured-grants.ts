import { type Capabilities, noCapabilities, together } from "../../skills/permissions.ts";
import type { JudgedSkill } from "./grants.ts";
import { type ConfiguredGrant, type PermissionName, parseGrant } from "../../wire/grant-text.ts";

/** A skill that the process has found, but not hashed yet. */
type SeenSkill = Pick<JudgedSkill, "name" | "slug" | "isOwn" | "directory">;

interface Granted {
  readonly capabilities: Capabilities;
  /** The grant as written in the configuration. */
  readonly text: string;
}

/** The grants of the configuration. A grant by name or path counts for the bytes that the skill had when it was first seen. */
export class ConfiguredGrants {
  readonly #grants: readonly (ConfiguredGrant & Pick<Granted, "text">)[];
  /** The pinned grants, by canonical name and digest. */
  readonly #pinned = new Map<string, Granted[]>();
  /** Grants by name that have pinned a skill. */
  readonly #used = new Set<ConfiguredGrant>();
  readonly #resolved = new Set<ConfiguredGrant>();

  /** Parses the texts of the configuration, whose paths are real paths. Text that cannot be parsed grants nothing. */
  constructor(texts: readonly string[]) {
    this.#grants = texts.flatMap((text) => {
      const grant = parseGrant(text);
      return grant === undefined ? [] : [{ ...grant, text }];
    });
  }

  /** The texts of the grants that name exact bytes. */
  get exactTexts(): readonly string[] {
    return this.#grants.flatMap(({ form, text }) => (form === "digest" ? [text] : []));
  }

  get isEmpty(): boolean {
    return this.#grants.length === 0;
  }

  /** Whether a grant by name or path is for this skill, so that its bytes must be pinned. */
  concerns(skill: SeenSkill): boolean {
    return this.#grants.some((grant) => !this.#resolved.has(grant) && isFor(grant, skill));
  }

  /** Pins the bytes of a skill that a grant concerns. */
  pin(skill: SeenSkill, digest: string, wants: Capabilities): void {
    const key = JSON.stringify([skill.name, digest]);
    for (const grant of this.#grants.filter((one) => !this.#resolved.has(one) && isFor(one, skill))) {
      const kinds = grant.form === "path" ? undefined : grant.kinds;
      if (grant.form === "name") this.#used.add(grant);
      const before = (this.#pinned.get(key) ?? []).filter(({ text }) => text !== grant.text);
      this.#pinned.set(key, [...before, { capabilities: ofKinds(wants, kinds), text: grant.text }]);
    }
  }

  /** Ends pinning by name once all skills have been seen: a skill that has such a name later is another one. */
  resolve(): void {
    for (const grant of this.#used) this.#resolved.add(grant);
  }

  /** The capabilities granted to exactly this version, and the texts of the grants. `wants`: all that the skill declares. */
  capabilitiesOf(
    { name, slug, digest }: JudgedSkill,
    wants: Capabilities,
  ): { readonly capabilities: Capabilities; readonly texts: string } | undefined {
    const byDigest = this.#grants.flatMap((grant) => {
      return grant.form === "digest" && grant.digest === digest && isNamed(grant.skill, { name, slug })
        ? [{ capabilities: ofKinds(wants, grant.kinds), text: grant.text }]
        : [];
    });
    const all: readonly Granted[] = [...byDigest, ...(this.#pinned.get(JSON.stringify([name, digest])) ?? [])];
    if (all.length === 0) return undefined;
    const capabilities = together(all.map((granted) => granted.capabilities));
    return { capabilities, texts: all.map(({ text }) => text).join(" ") };
  }

  /** Whether models may read the skills of a project. */
  trusts(project: string): boolean {
    return this.#grants.some((grant) => grant.form === "path" && grant.path === project);
  }
}

/** Whether a grant is for a skill. A bare name is never for a skill of a project. */
function isFor(grant: ConfiguredGrant, skill: SeenSkill): boolean {
  if (grant.form === "path") return grant.path === skill.directory;
  return grant.form === "name" && skill.isOwn && isNamed(grant.skill, skill);
}

function isNamed(given: string, { name, slug }: Pick<SeenSkill, "name" | "slug">): boolean {
  return given === name || given === slug;
}

/** Reduces the capabilities that a skill declares to these kinds. */
function ofKinds(wants: Capabilities, kinds: readonly PermissionName[] | undefined): Capabilities {
  if (kinds === undefined) return wants;
  const { network, secrets, uses = [], project } = wants;
  const write = kinds.includes("project-write");
  const read = write || kinds.includes("project-read");
  return {
    ...noCapabilities,
    network: kinds.includes("network") ? network : [],
    secrets: kinds.includes("secrets") ? secrets : [],
    ...(kinds.includes("secret-uses") && uses.length > 0 && { uses }),
    project: project === "write" && write ? "write" : project !== "none" && read ? "read" : "none",
  };
}
