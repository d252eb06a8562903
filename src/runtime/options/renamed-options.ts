import { deprecate } from "node:util";
import { SkillsError } from "../../base/errors.ts";
import type { AnnouncedForm, SkillsOptions } from "../options.ts";

/** Earlier names of options: accepted with a warning until 0.2. */
export interface RenamedOptions {
  /** @deprecated The new name is `directories`. */
  readonly skills?: SkillsOptions["directories"];
  /** @deprecated The new name is `announce`. */
  readonly emit?: AnnouncedForm;
  /** @deprecated The new name is `instructModel`. */
  readonly teach?: boolean;
  /** @deprecated The new name is `answerPermissions`. */
  readonly approve?: boolean;
}

const newNames: Readonly<Record<keyof RenamedOptions, keyof SkillsOptions>> = {
  skills: "directories",
  emit: "announce",
  teach: "instructModel",
  approve: "answerPermissions",
};

/** Replaces earlier names of options; warns once in a process of each. Throws INVALID_OPTIONS if both names are given. */
export function withNewNames(given: object): object {
  const renamed = Object.entries(given).map(([name, value]) => {
    if (!Object.hasOwn(newNames, name)) return [name, value] as const;
    const newName = newNames[name as keyof RenamedOptions];
    if (Object.hasOwn(given, newName))
      throw new SkillsError("INVALID_OPTIONS", `Options ${name} and ${newName} are the same: leave out ${name}.`, {
        facts: { option: name, nearest: newName },
      });
    deprecate(
      () => undefined,
      `Option "${name}" of acp-skills is called "${newName}" now.`,
      `ACP_SKILLS_OPTION_${name}`,
    )();
    return [newName, value] as const;
  });
  return Object.fromEntries(renamed);
}
