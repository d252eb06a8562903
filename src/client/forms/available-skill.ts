import type { AvailableSkill } from "../../wire/available-skill.ts";
import { metaKey } from "../../wire/methods.ts";
import type { Entries } from "./entries.ts";
import { skillFault } from "../skill-fault.ts";
import type { SkillOfForm } from "./notification.ts";

/** Takes one AvailableSkill, of whatever form, with what the form says besides. */
export function addAvailableSkill(
  entries: Entries,
  value: unknown,
  place: string,
  more: Pick<SkillOfForm, "form" | "command" | "file">,
): void {
  const fault = skillFault(value);
  if (fault === undefined) entries.add(toFacts(value as AvailableSkill, more), place);
  else entries.addFault("INVALID_SKILL", place, fault);
}

function toFacts(
  skill: AvailableSkill,
  { form, command, file }: Pick<SkillOfForm, "form" | "command" | "file">,
): SkillOfForm {
  const { name, description, license, compatibility, allowedTools, _meta } = skill;
  const {
    name: canonicalName,
    version,
    kind,
    namespace,
    source,
    state,
    digest,
    environment,
    userInvocable,
  } = _meta?.[metaKey] ?? {};
  const isInvocable = version !== undefined && (userInvocable ?? state !== "denied");
  // One literal: spreading costs ten times as much, and lists are long.
  return {
    form,
    command: command ?? (isInvocable ? name : undefined),
    file,
    name,
    description,
    license,
    compatibility,
    allowedTools,
    canonicalName,
    version,
    kind,
    namespace,
    source,
    state,
    digest,
    environment: environment && { status: environment.status, missing: environment.missing },
  };
}
