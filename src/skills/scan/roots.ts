import path from "node:path";

/** A directory below which skills are looked for. `path` is absolute; it need not exist. */
export interface Root {
  readonly path: string;
  /** `explicit`: asked for by name; `project`: of the session's directories; `user`: of the home directory. */
  readonly origin: "explicit" | "project" | "user";
  /** Whether it is no directory of skills, but of whatever may hold some. */
  readonly holdsAnything?: boolean;
}

export interface SessionDirectories {
  /** Asked for by name, absolute, in the order of precedence. */
  readonly explicit?: readonly string[];
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: readonly string[];
  readonly home?: string | undefined;
  /** False leaves only the explicit roots. */
  readonly useDefaults?: boolean;
  /** How paths are spelt; the platform's own way when absent. */
  readonly paths?: Pick<path.PlatformPath, "isAbsolute" | "join" | "normalize" | "parse" | "sep">;
}

const places = [
  [".agents", "skills"],
  [".claude", "skills"],
] as const;

/**
 * The roots of a session, most important first, each once (C-1.6). A directory that is not absolute is not used: what it
 * is relative to is not known here; `problems` says so in sentences for people.
 */
export function sessionRoots(directories: SessionDirectories): { roots: Root[]; problems: string[] } {
  const { explicit = [], cwd, additionalDirectories = [], home, useDefaults = true, paths = path } = directories;
  const roots = new Map<string, Root>();
  const problems: string[] = [];

  function addRoot(directory: string, origin: Root["origin"]): void {
    const normal = withoutTrailingSeparator(paths.normalize(directory), paths);
    const before = roots.get(normal);
    // Where the home directory is the project, its skills are the person's own all the same; a Map keeps their place.
    if (before === undefined || before.origin === "project") roots.set(normal, { path: normal, origin });
  }
  function isUsable(directory: string, role: string): boolean {
    if (paths.isAbsolute(directory)) return true;
    problems.push(
      `The ${role} ${JSON.stringify(directory)} is not an absolute path, so no skills are looked for there.`,
    );
    return false;
  }

  for (const directory of explicit) if (isUsable(directory, "skills directory")) addRoot(directory, "explicit");
  if (!useDefaults) return { roots: [...roots.values()], problems };
  const project = [
    ...(cwd !== undefined && isUsable(cwd, "working directory") ? [cwd] : []),
    ...additionalDirectories.filter((directory) => isUsable(directory, "additional directory")),
  ];
  for (const directory of project) for (const place of places) addRoot(paths.join(directory, ...place), "project");
  if (home !== undefined && isUsable(home, "home directory")) {
    for (const place of places) addRoot(paths.join(home, ...place), "user");
  }
  return { roots: [...roots.values()], problems };
}

function withoutTrailingSeparator(directory: string, paths: Pick<path.PlatformPath, "parse" | "sep">): string {
  const { root } = paths.parse(directory);
  return directory.length > root.length && directory.endsWith(paths.sep) ? directory.slice(0, -1) : directory;
}
