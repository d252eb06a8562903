/** Told that something may have happened in `directory` (to `name`, where the system says); it means "look again", nothing more. */
export type Hint = (directory: string, name: string | undefined) => void;

/** The port through which change is noticed. Directories are watched one by one, never recursively. */
export interface SkillWatcher {
  /** Starts to watch; nothing happens for a directory that is watched already and still there. Never throws. */
  add(directory: string): void;
  remove(directory: string): void;
  close(): Promise<void>;
}

/**
 * Opens a watcher. `hint` must not throw. `degraded` is called at most once, with a sentence for people, when the system's
 * watches run out and the adapter goes over to polling.
 */
export type OpenSkillWatcher = (hint: Hint, degraded: (message: string) => void) => SkillWatcher;
