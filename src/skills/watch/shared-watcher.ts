import type { Hint, OpenSkillWatcher, SkillWatcher } from "./skill-watcher.ts";

/** Watchers that share one underlying watcher, which is open as long as any of them is. */
export function shareWatcher(open: OpenSkillWatcher): OpenSkillWatcher {
  /** The users of each path. */
  const wanted = new Map<string, Set<{ readonly hint: Hint }>>();
  let shared: SkillWatcher | undefined;
  let users = 0;
  const tell: Hint = (target, name) => {
    for (const { hint } of [...(wanted.get(target) ?? [])]) hint(target, name);
  };

  return (hint, degraded) => {
    const user = { hint };
    const own = new Set<string>();
    const watcher = (shared ??= open(tell, degraded));
    users++;
    let isClosed = false;
    function remove(target: string): void {
      if (!own.delete(target)) return;
      const others = wanted.get(target);
      others?.delete(user);
      if (others?.size !== 0) return;
      wanted.delete(target);
      watcher.remove(target);
    }
    return {
      add(target) {
        if (isClosed) return;
        own.add(target);
        wanted.set(target, (wanted.get(target) ?? new Set()).add(user));
        watcher.add(target);
      },
      remove,
      async close() {
        if (isClosed) return;
        isClosed = true;
        for (const target of [...own]) remove(target);
        if (--users > 0) return;
        shared = undefined;
        await watcher.close();
      },
    };
  };
}
