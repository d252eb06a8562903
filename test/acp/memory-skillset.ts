import type { SessionDirectories, SessionSkills, Skillset } from "../../src/skills/skillset.ts";
import type { Problem } from "../../src/skills/rules/problem.ts";
import type { Change, OfferedSkill, Skill, Snapshot } from "../../src/skills/skill.ts";
import { diffSnapshots } from "../../src/skills/skillset/assemble.ts";

/** A skill as a catalog offers it, with defaults for all fields. */
export function offer(name: string, facts: Partial<Skill> = {}): OfferedSkill {
  const slug = name.replaceAll(".", "-");
  const skill: Skill = {
    name,
    slug,
    version: "1.0.0",
    kind: "instruction",
    namespace: name.split(".")[0] ?? name,
    description: `What ${name} does.`,
    tags: [],
    metadata: {},
    dialect: "agent-skills",
    directory: `/skills/${slug}`,
    file: `/skills/${slug}/SKILL.md`,
    ...facts,
  };
  return { skill, sources: ["/skills"], problems: [], versions: [skill] };
}

/** A skillset whose catalog is changed by the test. */
export interface MemorySkillset extends Skillset {
  /** The directories of each opened session, in order. */
  readonly opened: readonly SessionDirectories[];
  readonly openCount: () => number;
  set(skills: readonly OfferedSkill[], problems?: readonly Problem[]): void;
  becomeReady(): Promise<void>;
}

export function memorySkillset(
  skills: readonly OfferedSkill[] = [],
  options: { readonly problems?: readonly string[]; readonly isReady?: boolean } = {},
): MemorySkillset {
  let snapshot: Snapshot = { skills, problems: [] };
  let openCount = 0;
  const opened: SessionDirectories[] = [];
  const listeners = new Set<(change: Change) => void>();
  let resolveReady: (snapshot: Snapshot) => void = () => undefined;
  const ready = new Promise<Snapshot>((resolve) => {
    resolveReady = resolve;
  });
  if (options.isReady ?? true) resolveReady(snapshot);

  function openSession(directories: SessionDirectories): SessionSkills {
    opened.push(directories);
    openCount += 1;
    let isOpen = true;
    return {
      directory: directories.cwd,
      problems: options.problems ?? [],
      catalog: {
        get snapshot() {
          return snapshot;
        },
        ready,
        onChange(listener) {
          const tell = (change: Change): void => {
            listener(snapshot, change);
          };
          listeners.add(tell);
          return () => listeners.delete(tell);
        },
        find: (name) => snapshot.skills.find(({ skill }) => skill.slug === name || skill.name === name),
      },
      close() {
        if (isOpen) openCount -= 1;
        isOpen = false;
      },
    };
  }

  return {
    opened,
    openCount: () => openCount,
    openSession,
    set(next, problems = []) {
      const before = snapshot;
      snapshot = { skills: next, problems };
      const change = diffSnapshots(before, snapshot);
      for (const listener of listeners) listener(change);
    },
    async becomeReady() {
      resolveReady(snapshot);
      await ready;
    },
    close: () => Promise.resolve(),
  };
}
