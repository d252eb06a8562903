import type { ReadableStore, ToldSkill } from "../../../../src/browser/page/element-types.ts";
import { createStoreSource } from "../../../../src/browser/page/source/store-source.ts";
import { describeSkillSource } from "../../../contract/skill-source.ts";

describeSkillSource("store-source", () => {
  let skills: readonly ToldSkill[] = ["b", "a"].map((name) => ({ name, description: `Does ${name}.` }));
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
  const become = (next: readonly ToldSkill[]): void => {
    skills = next;
    for (const listener of listeners) listener();
  };
  const without = (name: string): ToldSkill[] => skills.filter((skill) => skill.name !== name);
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
