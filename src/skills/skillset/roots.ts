import path from "node:path";

/** A directory that is searched for skills. `path` is absolute; it need not exist. */
export interface Root {
  readonly path: string;
  /**
   * `explicit`: passed by the user; `project`: in the session's directories; `user`: in the home directory; `remote`: copies of skills
   * that others publish.
   */
  readonly origin: "explicit" | "project" | "user" | "remote";
  /** Present for a `remote` root. */
  readonly remote?: RemoteOrigin;
  /** Whether it is not a directory of skills, but any directory that may contain some. */
  readonly holdsAnything?: boolean;
}

/** Where the skills of a root were published. */
export interface RemoteOrigin {
  /** As people see it: a URL without secrets. */
  readonly label: string;
  /** The https URL that rules about sources judge, where the label is none. */
  readonly place?: string | undefined;
  /**
   * The digest with which a skill was downloaded into a directory, and the commit of the source that it is from, if the source is a
   * repository; undefined for a directory that is not current any more.
   */
  readonly provenanceOf: (directory: string) => { readonly digest: string; readonly commit?: string } | undefined;
}

export interface RootOptions {
  /** Passed by the user, absolute, in order of precedence. */
  readonly explicit?: readonly string[];
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: readonly string[];
  readonly home?: string | undefined;
  /** False leaves only the explicit and the remote roots. */
  readonly useDefaults?: boolean;
  /** Directories with copies of skills of others, in order of precedence: after all local ones. */
  readonly remote?: readonly RemoteRoot[];
  /** Default: the platform's own path syntax. */
  readonly paths?: Pick<typeof path, "isAbsolute" | "join" | "normalize" | "parse" | "sep">;
}

export type RemoteRoot = Required<Pick<Root, "path" | "remote">>;

const places = [
  [".agents", "skills"],
  [".claude", "skills"],
] as const;

/**
 * The roots of a session, in order of precedence, without duplicates. Relative directories are skipped and reported in
 * `problems`.
 */
export function sessionRoots(directories: RootOptions): { roots: Root[]; problems: string[] } {
  const {
    explicit = [],
    cwd,
    additionalDirectories = [],
    home,
    useDefaults = true,
    remote = [],
    paths = path,
  } = directories;
  const roots = new Map<string, Root>();
  const problems: string[] = [];

  function addRoot(directory: string, origin: Root["origin"]): void {
    const normal = withoutTrailingSeparator(paths.normalize(directory), paths);
    const before = roots.get(normal);
    // If the home directory is the project, its skills still are the person's own; a Map keeps the position.
    if (before === undefined || before.origin === "project") roots.set(normal, { path: normal, origin });
  }
  function isUsable(directory: string, role: string): boolean {
    if (paths.isAbsolute(directory)) return true;
    problems.push(`The ${role} ${JSON.stringify(directory)} is not an absolute path and is not searched for skills.`);
    return false;
  }

  for (const directory of explicit) if (isUsable(directory, "skills directory")) addRoot(directory, "explicit");
  const all = (): Root[] => [
    ...roots.values(),
    ...remote.map(({ path, remote }): Root => ({ path, origin: "remote", remote })),
  ];
  if (!useDefaults) return { roots: all(), problems };
  const project = [
    ...(cwd !== undefined && isUsable(cwd, "working directory") ? [cwd] : []),
    ...additionalDirectories.filter((directory) => isUsable(directory, "additional directory")),
  ];
  for (const directory of project) for (const place of places) addRoot(paths.join(directory, ...place), "project");
  if (home !== undefined && isUsable(home, "home directory")) {
    for (const place of places) addRoot(paths.join(home, ...place), "user");
  }
  return { roots: all(), problems };
}

function withoutTrailingSeparator(directory: string, paths: Pick<typeof path, "parse" | "sep">): string {
  const { root } = paths.parse(directory);
  return directory.length > root.length && directory.endsWith(paths.sep) ? directory.slice(0, -1) : directory;
}
