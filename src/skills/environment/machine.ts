import type { System } from "./requirement.ts";

/** A command on PATH. */
export interface FoundCommand {
  readonly path: string;
  /** It only offers to install the program: whether that is there is not known. */
  readonly isPlaceholder?: true;
  /** It starts different versions in different directories; its version is that outside of projects. */
  readonly isShim?: true;
}

/**
 * The port to the machine that skills are matched to. It answers for one moment: answers are kept. It runs no program that a skill names,
 * only known ones, for their version; it never uses the network.
 */
export interface Machine {
  /** Undefined for one that skills have no name for. */
  readonly system: System | undefined;
  /** The first command of this name on PATH; undefined if there is none, or if the name cannot be one. */
  find(command: string): FoundCommand | undefined;
  /** The version of what `find` found, or why it is not known. Never rejects. */
  version(command: string): Promise<{ readonly version: string } | { readonly reason: string }>;
  /** Whether an environment variable has a value. */
  hasVariable(name: string): boolean;
}
