/** Called when something may have changed in `directory` (`name`, if known). Only a hint to read it again. */
export type Hint = (directory: string, name: string | undefined) => void;

/**
 * The port through which changes are noticed. Directories are watched one by one, never recursively. If a path is real, changes in the
 * directory are noticed; for every path, missing or behind links, a changed resolution is noticed.
 */
export interface SkillWatcher {
  /** Starts watching. No effect for a watched path that still has the same resolution. Never throws. */
  add(target: string): void;
  remove(target: string): void;
  close(): Promise<void>;
}

/**
 * Opens a watcher. `hint` must not throw. `degraded` is called at most once, with a message for users, when watches run out and polling
 * starts.
 */
export type OpenSkillWatcher = (hint: Hint, degraded: (message: string) => void) => SkillWatcher;

/** Returns a function that opens watchers that share one underlying watcher, which is open as long as any of them is. */
export function shareWatcher(open: OpenSkillWatcher): OpenSkillWatcher {
  /** The users of each path. */
  const wanted = new Map<string, Set<{ readonly hint: Hint }>>();
  let shared: SkillWatcher | undefined;
  let users = 0;
  const notify: Hint = (target, name) => {
    for (const { hint } of [...(wanted.get(target) ?? [])]) hint(target, name);
  };

  return (hint, degraded) => {
    const user = { hint };
    const own = new Set<string>();
    const watcher = (shared ??= open(notify, degraded));
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
