import type { NotificationFault, FaultCode, SkillOfForm, StoredSkill } from "./notification.ts";
import { skillFault } from "../skill-fault.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { metaKey } from "../../wire/methods.ts";

/** The limits on what is stored for one connection. Agents are untrusted. */
export interface StoreLimits {
  /** The maximum number of sessions; the least recently updated is dropped. Default: 100. */
  readonly sessions: number;
  /** The maximum number of skills and commands of a session; more in a message are ignored. Default: 20,000. */
  readonly skills: number;
  /** The maximum number of characters of one skill; a longer one is ignored. Default: 16,384. */
  readonly text: number;
  /** The maximum number of characters of all sessions; the oldest are dropped. Default: 64 Mi. */
  readonly allText: number;
  /** The maximum number of stored problems. Default: 200. */
  readonly problems: number;
}

/** The facts that are known before a message is read. */
export interface EntryContext {
  /** The key of the connection. */
  readonly agent: string;
  readonly limits: Pick<StoreLimits, "skills" | "text">;
}

/** The maximum number of faults of a message; further ones are ignored. */
const maxFaults = 100;

/** Gathers the skills of one message, without those that are invalid, too long, too many or duplicated. */
export class Entries {
  readonly #context: EntryContext;
  readonly #sessionId: string;
  readonly #skills = new Map<string, StoredSkill>();
  readonly faults: NotificationFault[] = [];

  constructor(context: EntryContext, sessionId: string) {
    this.#context = context;
    this.#sessionId = sessionId;
  }

  get skills(): readonly StoredSkill[] {
    return [...this.#skills.values()];
  }

  has(name: string): boolean {
    return this.#skills.has(name);
  }

  /** Whether entries beyond `index` are ignored. */
  isFull(index: number, pointer: string): boolean {
    const { skills } = this.#context.limits;
    if (index < skills) return false;
    this.report("TOO_MANY_SKILLS", pointer, `lists more than ${skills} entries`);
    return true;
  }

  /** Adds a skill. `parsed` must be a new object: it becomes the stored skill. */
  add(parsed: SkillOfForm, pointer: string): void {
    const { agent, limits } = this.#context;
    const skill: StoredSkill = Object.assign(parsed, { agent, sessionId: this.#sessionId });
    const { name } = skill;
    if (this.#skills.has(name)) this.report("DUPLICATE_SKILL", pointer, `lists the skill "${name}" again`);
    else if (lengthOf(skill) > limits.text)
      this.report("SKILL_TOO_LONG", pointer, `is longer than ${limits.text} characters`);
    else this.#skills.set(name, skill);
  }

  /** Adds one AvailableSkill of any form, with the further facts of that form. */
  addAvailable(value: unknown, pointer: string, more: Pick<SkillOfForm, "form" | "command" | "file">): void {
    const fault = skillFault(value);
    if (fault === undefined) this.add(toFacts(value as AvailableSkill, more), pointer);
    else this.report("INVALID_SKILL", pointer + fault[0], fault[1]);
  }

  report(code: FaultCode, pointer: string, message: string): void {
    if (this.faults.length < maxFaults) this.faults.push({ code, place: pointer, message });
  }
}

/** The number of characters that a skill holds in memory. */
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

function toFacts(
  skill: AvailableSkill,
  { form, command, file }: Pick<SkillOfForm, "form" | "command" | "file">,
): SkillOfForm {
  const { name, description, license, compatibility, allowedTools, _meta } = skill;
  const ours = _meta?.[metaKey];
  const { version, state, environment } = ours ?? {};
  const isInvocable = version !== undefined && (ours?.userInvocable ?? state !== "denied");
  // Uses one literal, because spreading costs ten times as much, and lists are long.
  return {
    form,
    command: command ?? (isInvocable ? name : undefined),
    file,
    name,
    description,
    license,
    compatibility,
    allowedTools,
    canonicalName: ours?.name,
    version,
    kind: ours?.kind,
    namespace: ours?.namespace,
    source: ours?.source,
    state,
    digest: ours?.digest,
    environment: environment && { status: environment.status, missing: environment.missing },
  };
}
