import { type System, isCommandName } from "../../../src/skills/environment/requirement.ts";
import type { FoundCommand, Machine } from "../../../src/skills/environment.ts";

export interface MemoryMachineOptions {
  readonly system?: System | undefined;
  /** What is on PATH. */
  readonly programs?: Readonly<Record<string, Partial<FoundCommand>>>;
  readonly variables?: readonly string[];
}

/** A machine without a disk. `looked` has each command that was looked for. */
export function memoryMachine({ programs = {}, variables = [], ...given }: MemoryMachineOptions = {}): Machine & {
  readonly looked: string[];
} {
  const looked: string[] = [];
  const at = (command: string) => (Object.hasOwn(programs, command) ? programs[command] : undefined);
  return {
    looked,
    system: "system" in given ? given.system : "linux",
    find(command) {
      looked.push(command);
      const program = at(command);
      if (program === undefined || !isCommandName(command)) return undefined;
      return { path: `/usr/bin/${command}`, ...program };
    },
    hasVariable: (name) => variables.includes(name),
  };
}
