import { signal } from "@preact/signals";
import type { SkillList, SkillRow, SkillState } from "../../wire/skills.ts";
import type { ReadableStore, ReadableSkill } from "../element-types.ts";
import type { BrowserSkillSource } from "./skill-source.ts";

/** Opens the skills that agents announced to a client. They can only be shown, and only announced facts are known. */
export function createStoreSource(store: ReadableStore): BrowserSkillSource {
  /** The rows by skill: the row of an unchanged skill is the same object as before. */
  const rows = new WeakMap<ReadableSkill, SkillRow>();
  const read = (revision: number): SkillList => {
    const ids = new Set<string>();
    const skills = store.skills.map((skill) => {
      const id = ids.has(skill.name) ? `${skill.name}@${skill.agent ?? ids.size}` : skill.name;
      ids.add(id);
      const known = rows.get(skill);
      const row = known?.id === id ? known : toRow(skill, id);
      rows.set(skill, row);
      return row;
    });
    return { revision, skills: skills.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))), unread: [] };
  };
  const list = signal(read(1));
  const asks = (): readonly string[] =>
    (store.capabilities ?? []).filter(({ optedIn }) => optedIn === false).map(({ agent }) => agent);
  const notAsked = signal(asks());
  const stop = store.subscribe(() => {
    list.value = read(list.value.revision + 1);
    notAsked.value = asks();
  });
  return {
    list,
    notAsked,
    connection: signal("live"),
    detail: (id) => {
      const row = list.value.skills.find((one) => one.id === id);
      return Promise.resolve(row && { row });
    },
    close: stop,
  };
}

const states: readonly string[] = ["needs-approval", "changed", "blocked", "denied"] satisfies SkillState[];
const charactersPerToken = 4;

function toRow(skill: ReadableSkill, id: string): SkillRow {
  const { name, description, kind = "instruction", version = "", namespace = "", agent } = skill;
  const { source = agent ?? "", state = "ok" } = skill;
  return {
    ...skill,
    ...{ id, kind, version, namespace, source },
    state: states.includes(state) ? (state as SkillState) : "ok",
    tokens: { listed: Math.ceil((name.length + description.length) / charactersPerToken), instructions: 0 },
    errors: 0,
    warnings: 0,
  };
}
