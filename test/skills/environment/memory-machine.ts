import { isCommandName, versionArguments } from "../../../src/skills/environment/known-programs.ts";
import type { System } from "../../../src/skills/environment/requirement.ts";
import type { FoundCommand, Machine } from "../../../src/skills/environment.ts";

export interface MemoryMachineOptions {
  readonly system?: System | undefined;
  /** What is on PATH: a version each, or why it is not known. */
  readonly programs?: Readonly<Record<string, string | { readonly reason: string } | Partial<FoundCommand>>>;
  readonly variables?: readonly string[];
}

/** A machine without a disk. `asked` has each question for a version. */
export function memoryMachine({ programs = {}, variables = [], ...given }: MemoryMachineOptions = {}): Machine & {
  readonly looked: string[];
  readonly asked: string[];
} {
  const [looked, asked]: [string[], string[]] = [[], []];
  const at = (command: string) => (Object.hasOwn(programs, command) ? programs[command] : undefined);
  return {
    looked,
    asked,
    system: "system" in given ? given.system : "linux",
    find(command) {
      looked.push(command);
      const program = at(command);
      if (program === undefined || !isCommandName(command)) return undefined;
      const facts = typeof program === "object" && !("reason" in program) ? program : {};
      return { path: `/usr/bin/${command}`, ...facts };
    },
    version(command) {
      asked.push(command);
      const program = at(command);
      if (versionArguments(command) === undefined || program === undefined)
        return Promise.resolve({ reason: "acp-skills does not run this program" });
      if (typeof program === "string") return Promise.resolve({ version: program });
      return Promise.resolve({ reason: "reason" in program ? program.reason : "it does not print one" });
    },
    hasVariable: (name) => variables.includes(name),
  };
}
