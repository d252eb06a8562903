import type { ReadableStore, ReadableSkill } from "../../../../src/browser/page/element-types.ts";
import { createStoreSource } from "../../../../src/browser/page/source/store-source.ts";
import { describeSkillSource } from "../../../contract/skill-source.ts";

describeSkillSource("store-source", () => {
  let skills: readonly ReadableSkill[] = ["b", "a"].map((name) => ({ name, description: `Does ${name}.` }));
  const listeners = new Set<() => void>();
  const store: ReadableStore = {
    get skills() {
      return skills;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const become = (next: readonly ReadableSkill[]): void => {
    skills = next;
    for (const listener of listeners) listener();
  };
  const without = (name: string): ReadableSkill[] => skills.filter((skill) => skill.name !== name);
  return Promise.resolve({
    source: createStoreSource(store),
    put: (name, description) => {
      become([...without(name), { name, description }]);
    },
    remove: (name) => {
      become(without(name));
    },
  });
});
