import { type Capabilities, noCapabilities, together } from "../../skills/permissions.ts";
import type { Subject } from "./grants.ts";
import { type ConfiguredGrant, type PermissionName, parseGrant } from "../../wire/grant-text.ts";

/** A skill that the process sees, before it is known which bytes it has. */
type SeenSkill = Pick<Subject, "name" | "slug" | "isOwn" | "directory">;

interface Granted {
  readonly capabilities: Capabilities;
  /** As it was given. */
  readonly text: string;
}

/** What the configuration allows. Grants by name and by path count for the bytes that were there when they were first seen. */
export class ConfiguredGrants {
  readonly #grants: readonly (ConfiguredGrant & Pick<Granted, "text">)[];
  /** By canonical name and digest. */
  readonly #pinned = new Map<string, Granted[]>();
  /** Grants by name whose skills were seen, now and before. */
  readonly #used = new Set<ConfiguredGrant>();
  readonly #settled = new Set<ConfiguredGrant>();

  /** From the texts of the configuration, paths as real paths. Text that cannot be parsed grants nothing. */
  constructor(texts: readonly string[]) {
    this.#grants = texts.flatMap((text) => {
      const grant = parseGrant(text);
      return grant === undefined ? [] : [{ ...grant, text }];
    });
  }

  /** What was given, where that names exact bytes. */
  get exactTexts(): readonly string[] {
    return this.#grants.flatMap(({ form, text }) => (form === "digest" ? [text] : []));
  }

  get isEmpty(): boolean {
    return this.#grants.length === 0;
  }

  /** Whether a grant by name or path is for this skill, so that its bytes must be pinned. */
  concerns(skill: SeenSkill): boolean {
    return this.#grants.some((grant) => !this.#settled.has(grant) && isFor(grant, skill));
  }

  /** Pins the bytes of a skill that a grant concerns. */
  pin(skill: SeenSkill, digest: string, wants: Capabilities): void {
    const key = JSON.stringify([skill.name, digest]);
    for (const grant of this.#grants.filter((one) => !this.#settled.has(one) && isFor(one, skill))) {
      const kinds = grant.form === "path" ? undefined : grant.kinds;
      if (grant.form === "name") this.#used.add(grant);
      const before = (this.#pinned.get(key) ?? []).filter(({ text }) => text !== grant.text);
      this.#pinned.set(key, [...before, { capabilities: ofKinds(wants, kinds), text: grant.text }]);
    }
  }

  /** All skills of a moment were pinned: what has the name of one of them later is another skill. */
  settle(): void {
    for (const grant of this.#used) this.#settled.add(grant);
  }

  /** What is granted to exactly this version, and the texts that do. `wants`: all that it declares. */
  capabilitiesOf(
    { name, slug, digest }: Subject,
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
