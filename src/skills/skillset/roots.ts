import path from "node:path";

/** A directory that is searched for skills. `path` is absolute; it need not exist. */
export interface Root {
  readonly path: string;
  /**
   * `explicit`: passed by the user; `project`: in the session's directories; `user`: in the home directory; `remote`: copies of published
   * skills of others.
   */
  readonly origin: "explicit" | "project" | "user" | "remote";
  /** Present for a `remote` root. */
  readonly remote?: RemoteOrigin;
  /** Whether the directory is not a directory of skills, but any directory that may contain some. */
  readonly holdsAnything?: boolean;
}

/** The publisher of the skills of a root. */
export interface RemoteOrigin {
  /** The label for users: a URL without secrets. */
  readonly label: string;
  /** The https URL that rules about sources judge, if the label is not such a URL. */
  readonly url?: string | undefined;
  /**
   * The provenance of a directory with a downloaded skill: the digest at the download, and the source's commit if the source is a
   * repository. Undefined for a directory that is no longer current.
   */
  readonly provenanceOf: (directory: string) => { readonly digest: string; readonly commit?: string } | undefined;
}

export interface RootOptions {
  /** Absolute directories that the user passes, in order of precedence. */
  readonly explicit?: readonly string[];
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: readonly string[];
  readonly home?: string | undefined;
  /** False leaves only the explicit and the remote roots. */
  readonly useDefaults?: boolean;
  /** Directories with copies of published skills of others, in order of precedence: after all local ones. */
  readonly remote?: readonly RemoteRoot[];
  /** Default: the platform's own path syntax. */
  readonly paths?: Pick<typeof path, "isAbsolute" | "join" | "normalize" | "parse" | "sep">;
}

export type RemoteRoot = Required<Pick<Root, "path" | "remote">>;

const folders = [
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
    // If the home directory is the project, its skills are still the user's own; a Map retains the position.
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
  for (const directory of project) for (const names of folders) addRoot(paths.join(directory, ...names), "project");
  if (home !== undefined && isUsable(home, "home directory")) {
    for (const names of folders) addRoot(paths.join(home, ...names), "user");
  }
  return { roots: all(), problems };
}

function withoutTrailingSeparator(directory: string, paths: Pick<typeof path, "parse" | "sep">): string {
  const { root } = paths.parse(directory);
  return directory.length > root.length && directory.endsWith(paths.sep) ? directory.slice(0, -1) : directory;
}
