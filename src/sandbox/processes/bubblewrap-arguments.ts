import type { Json, SandboxProject } from "../sandbox.ts";

/** What the arguments depend on. */
export interface BubblewrapPlan {
  readonly python: { readonly executable: string };
  /** Mounted at the same path: libraries, and files of the interpreter. */
  readonly shown: readonly string[];
  /** Mounted as `/usr/bin`. */
  readonly programs: string;
  /** The Node executable, for scripts. */
  readonly node: string | undefined;
  /** Links in the root directory, as on this system. */
  readonly system: readonly { readonly name: string; readonly link: string }[];
  /** Directories of `/proc` that must be read-only. */
  readonly settings: readonly string[];
  readonly inside: string;
  readonly etc: string;
  /** A file of zeros in place of `/dev/zero`, whose shared mappings are memory that is not counted. */
  readonly zeros: string;
  readonly skills: string;
  readonly blobs: string;
  readonly project: Pick<SandboxProject, "directory" | "writable"> | undefined;
  readonly packages: string | undefined;
  readonly diskBytes: number;
  /** The paths that Landlock allows, for `confine.py`. */
  readonly walls: Json;
  readonly wishes: readonly string[];
}

/** The path of Node in the sandbox. */
export const nodeInside = "/opt/node/bin/node";

/** Paths that the sandbox replaces: nothing of the host can be mounted there. */
export const ownPlaces = ["/dev", "/etc", "/inside", "/output", "/proc", "/tmp", "/workspace"] as const;

const launch = 'import sys; sys.path.insert(0, "/inside"); import supervisor; supervisor.main()';

/**
 * The arguments of bubblewrap. Mount points are created only in its own root, before that becomes read-only: below a tree that others
 * can write, bubblewrap would follow symbolic links to the host (CVE-2026-87766).
 */
export function bubblewrapArguments(plan: BubblewrapPlan): string[] {
  const { python, node, project, packages, diskBytes } = plan;
  const sized = ["--size", String(diskBytes), "--perms", "0700", "--tmpfs"];
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--disable-userns", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    ...["--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL", "--clearenv"],
    ...["--ro-bind", plan.programs, "/usr/bin"],
    ...plan.shown.flatMap((place) => ["--ro-bind", place, place]),
    ...plan.system.flatMap(({ name, link }) => ["--symlink", link, `/${name}`]),
    ...(node === undefined ? [] : ["--ro-bind", node, nodeInside]),
    ...["--ro-bind", plan.etc, "/etc"],
    ...["--proc", "/proc", ...plan.settings.flatMap((place) => ["--ro-bind", place, place])],
    ...deviceArguments(plan),
    ...["/tmp", "/workspace", "/output"].flatMap((place) => [...sized, place]),
    ...["--ro-bind", plan.inside, "/inside", "--ro-bind", plan.skills, "/skills", "--ro-bind", plan.blobs, "/blobs"],
    ...(project === undefined ? [] : [project.writable ? "--bind" : "--ro-bind", project.directory, "/project"]),
    ...(packages === undefined ? [] : ["--ro-bind", packages, "/packages"]),
    ...["--remount-ro", "/", "--chdir", "/workspace"],
    ...[
      "--",
      python.executable,
      "-I",
      "-S",
      "-B",
      "-c",
      launch,
      "bubblewrap",
      JSON.stringify(plan.walls),
      ...plan.wishes,
    ],
  ];
}

function deviceArguments({ zeros, diskBytes }: BubblewrapPlan): string[] {
  return [
    ...["--size", "65536", "--perms", "0755", "--tmpfs", "/dev"],
    ...["null", "random", "urandom"].flatMap((name) => ["--dev-bind", `/dev/${name}`, `/dev/${name}`]),
    ...["--ro-bind", zeros, "/dev/zero"],
    ...["--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin"],
    ...["--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr"],
    ...["--size", String(diskBytes), "--perms", "0700", "--tmpfs", "/dev/shm"],
    ...["--remount-ro", "/dev"],
  ];
}
