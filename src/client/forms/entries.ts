import type { NotificationFault, FaultCode, SkillOfForm, StoredSkill } from "./notification.ts";
import { type SkillFault, skillFault } from "../skill-fault.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { metaKey } from "../../wire/methods.ts";

/** Agents are untrusted: what exceeds these limits in a message is ignored. */
interface EntryLimits {
  /** Skills and commands of a session. */
  readonly skills: number;
  /** Characters of a skill. */
  readonly text: number;
}

/** What is known before a message is read. */
export interface EntryContext {
  /** The key of the connection. */
  readonly agent: string;
  readonly limits: EntryLimits;
}

/** Further faults of a message are ignored. */
const maxFaults = 100;

/** Gathers the skills of one message, without those that are invalid, too long, too many or duplicated. */
export class Entries {
  readonly #limits: EntryLimits;
  readonly #agent: string;
  readonly #sessionId: string;
  readonly #skills = new Map<string, StoredSkill>();
  readonly #faults: NotificationFault[] = [];

  constructor({ agent, limits }: EntryContext, sessionId: string) {
    this.#limits = limits;
    this.#agent = agent;
    this.#sessionId = sessionId;
  }

  get skills(): readonly StoredSkill[] {
    return [...this.#skills.values()];
  }

  get faults(): readonly NotificationFault[] {
    return this.#faults;
  }

  has(name: string): boolean {
    return this.#skills.has(name);
  }

  /** Whether entries beyond `index` are ignored. */
  isFull(index: number, place: string): boolean {
    if (index < this.#limits.skills) return false;
    this.report("TOO_MANY_SKILLS", place, `lists more than ${this.#limits.skills} entries; others are ignored`);
    return true;
  }

  /** `parsed` must be a new object: it becomes the stored skill. */
  add(parsed: SkillOfForm, place: string): void {
    const skill: StoredSkill = Object.assign(parsed, { agent: this.#agent, sessionId: this.#sessionId });
    const { name } = skill;
    if (this.#skills.has(name)) this.report("DUPLICATE_SKILL", place, `lists the skill "${name}" again`);
    else if (lengthOf(skill) > this.#limits.text)
      this.report("SKILL_TOO_LONG", place, `is longer than ${this.#limits.text} characters`);
    else this.#skills.set(name, skill);
  }

  addFault(code: FaultCode, place: string, [at, message]: SkillFault): void {
    this.report(code, `${place}${at}`, message);
  }

  report(code: FaultCode, place: string, message: string): void {
    if (this.#faults.length < maxFaults) this.#faults.push({ code, place, message });
  }
}

/** The characters that a skill holds in memory. */
export function lengthOf(skill: StoredSkill): number {
  let length = 0;
  for (const key in skill) {
    const value = skill[key as keyof StoredSkill];
    if (typeof value === "string") length += value.length;
    else if (value !== undefined)
      for (const text of "status" in value ? (value.missing ?? []) : value) length += text.length;
  }
  return length;
}

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
