/** A system that skills name. */
export type System = "linux" | "macos" | "windows";

/** One program. */
export interface ProgramDemand {
  /** The name to show: `Python`, or the command itself. */
  readonly name: string;
  /** The commands on PATH, any of which is the program; the usual one first. */
  readonly commands: readonly string[];
}

const commandName = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** Whether a text can be the name of a command. Nothing else is looked up on PATH. */
export function isCommandName(text: string): boolean {
  return commandName.test(text);
}

/** A requirement that a skill has of a machine. */
export type Demand =
  /** A program; any one of these suffices. */
  | { readonly kind: "program"; readonly anyOf: readonly ProgramDemand[] }
  | { readonly kind: "system"; readonly anyOf: readonly System[] }
  | { readonly kind: "network"; readonly hosts: readonly string[] }
  /** An environment variable. */
  | { readonly kind: "variable"; readonly variable: string }
  /** A secret that the skill's code declares. */
  | { readonly kind: "secret"; readonly secret: string }
  /** Python packages that `acp-skills install` installs. */
  | { readonly kind: "packages"; readonly packages: readonly string[] }
  /** Another skill: `a.b@^1`. */
  | { readonly kind: "skill"; readonly skill: string }
  /** A sandbox for the skill's code. `needs`: features that not every sandbox supports, such as `network access`. */
  | { readonly kind: "sandbox"; readonly needs: readonly string[] }
  /** A requirement stated in words; it is only quoted. */
  | { readonly kind: "text" };

/**
 * The certainty that the skill needs this: `declared` in a key for it; `derived` from its files; `likely`, never reported as missing,
 * because an agent may do without; `unclear`: stated in words.
 */
type Certainty = "declared" | "derived" | "likely" | "unclear";

/** The file and the key in which a requirement is written. */
interface RequirementLocation {
  /** Relative to the skill's directory. */
  readonly file: string;
  /** The key, such as `metadata.requires.bins`; empty for a file that has none. */
  readonly field: string;
  /** The text of the requirement, shortened; without control characters. */
  readonly text: string;
}

/** Something that a skill needs in order to work. Plain data. */
export type Requirement = Demand & {
  readonly certainty: Certainty;
  readonly where: RequirementLocation;
};

/** Describes a requirement in words: `Python`, `docker or podman`, `network access to api.example.com`. */
export function describeDemand(demand: Requirement): string {
  switch (demand.kind) {
    case "program":
      return demand.anyOf.map(({ name }) => name).join(" or ");
    case "system":
      return demand.anyOf.map((system) => systemNames[system]).join(" or ");
    case "network":
      return `network access to ${demand.hosts.join(", ")}`;
    case "variable":
      return `environment variable ${demand.variable}`;
    case "secret":
      return `secret ${demand.secret}`;
    case "packages":
      return `Python packages ${demand.packages.join(", ")}`;
    case "skill":
      return `skill ${demand.skill}`;
    case "sandbox":
      return demand.needs.length === 0 ? "a sandbox" : `a sandbox with ${demand.needs.join(" and ")}`;
    case "text":
      return `"${demand.where.text}"`;
  }
}

export const systemNames: Readonly<Record<System, string>> = { linux: "Linux", macos: "macOS", windows: "Windows" };
