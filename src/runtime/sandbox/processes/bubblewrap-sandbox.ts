import { existsSync, mkdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../../base/failures/system-error.ts";
import { isWithin } from "../../../base/paths/location.ts";
import { showNode } from "../directory/host-directory.ts";
import { ownFiles } from "../directory/own-files.ts";
import type { Python } from "../find.ts";
import type { Json, Sandbox, SandboxProject, SandboxRun } from "../../sandbox.ts";
import {
  type ProcessSandboxOptions,
  openProcessSandbox,
  supervisorCommand,
  wallsOfProject,
} from "./process-sandbox.ts";
import { type SyntheticRoot, makeProgramDirectory, shownToPython } from "./shown-files.ts";

export interface BubblewrapOptions extends ProcessSandboxOptions {
  readonly bubblewrap: string;
  readonly python: Python;
  readonly root: SyntheticRoot;
}

/** The strongest tier: Linux namespaces created by bubblewrap, which does not need root. */
export function openBubblewrapSandbox(options: BubblewrapOptions): Sandbox {
  const { bubblewrap, python, root, host } = options;
  const system = systemDirectories();
  const settings = ["/proc/sys", "/proc/pressure"].filter((directory) => existsSync(directory));
  const node = showNode(host);
  const shown = shownToPython(python);
  const programs = new Map<boolean, string>();
  const programsFor = (tools: boolean): string => {
    const made =
      programs.get(tools) ?? makeProgramDirectory(join(host.path, tools ? "tools" : "python"), python, tools);
    programs.set(tools, made);
    return made;
  };
  return openProcessSandbox(
    {
      tier: "bubblewrap",
      lacks:
        node === undefined
          ? { "scripts in Node": `Scripts in Node are not available: only root can read ${process.execPath}.` }
          : {},
      command(directory, shape, flags, user) {
        const lent = user.isLent ? shape.project : undefined;
        const link = join(directory.path, "project");
        const plan: BubblewrapPlan = {
          ...shape,
          project: lent === undefined ? shape.project : { ...lent, directory: link },
          ...root,
          python,
          shown,
          programs: programsFor(shape.tools),
          node: shape.tools ? node : undefined,
          system,
          settings,
          inside: host.inside,
          skills: directory.skills,
          blobs: directory.blobs,
          walls: secondWall(shown, shape.project),
          flags,
        };
        const command = { file: bubblewrap, arguments: bubblewrapArguments(plan) };
        if (lent === undefined) return command;
        mkdirSync(link);
        const given = [String(user.id), lent.directory, link, command.file, ...command.arguments];
        const asRoot = ["-I", "-S", "-B", ownFiles.showProject, ...given];
        return { file: python.executable, arguments: asRoot, user: undefined };
      },
    },
    options,
  );
}

/**
 * Landlock rules inside the namespaces. They hide files of `/proc` that reveal paths of the host and its boot id. They also prevent writing
 * to named pipes in read-only mounts such as a project, because processes outside may read the pipes.
 */
function secondWall(shown: readonly string[], project: SandboxRun["project"]): { readonly [key: string]: Json } {
  const own = ["/usr", "/opt", "/etc", "/dev", "/inside", "/skills", "/blobs", "/packages", "/project"];
  const readable = ["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"];
  return {
    readable: readable.map((name) => `/proc/${name}`),
    runnable: [...own, ...writableDirectories, ...shown],
    writable: [...writableDirectories, "/dev/null"],
    ...(project && wallsOfProject("/project", project)),
  };
}

const writableDirectories = ["/workspace", "/output", "/tmp", "/dev/shm"];

/** Why this interpreter cannot be mounted, or `undefined`. */
export function cannotShow({ executable, prefix }: Python): string | undefined {
  const hidden = ownDirectories.find((directory) => isWithin(prefix, directory));
  return hidden === undefined
    ? undefined
    : `${executable} is installed in ${prefix}, which the sandbox replaces with its own directory.`;
}

/** The links in the root directory. On most systems, `/lib` and others are links into `/usr`; some are absent. */
function systemDirectories(): BubblewrapPlan["system"] {
  const libraries = ["lib", "lib32", "lib64", "libx32"].flatMap((name) => {
    const link = attempt(() => readlinkSync(`/${name}`), undefined);
    return link === undefined ? [] : [{ name, link }];
  });
  return [...["bin", "sbin"].map((name) => ({ name, link: "usr/bin" })), ...libraries];
}

/** The values from which the arguments are made. */
export interface BubblewrapPlan {
  readonly python: Pick<Python, "executable">;
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
  /** A file of zeros instead of `/dev/zero`, whose shared mappings are memory that is not counted. */
  readonly zeros: string;
  readonly skills: string;
  readonly blobs: string;
  readonly project: Pick<SandboxProject, "directory" | "writable"> | undefined;
  readonly packages: string | undefined;
  readonly diskBytes: number;
  /** The paths that Landlock allows, for `confine.py`. */
  readonly walls: Json;
  readonly flags: readonly string[];
}

/** The path of Node in the sandbox, as in `program_process.py`. */
const nodeInside = "/opt/node/bin/node";

/** Paths that the sandbox replaces: nothing of the host can be mounted there. */
const ownDirectories = ["/dev", "/etc", "/inside", "/output", "/proc", "/tmp", "/workspace"] as const;

/**
 * The arguments of bubblewrap. Mount points are created only in its own root, before the root becomes read-only. Below a tree that others
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
    ...plan.shown.flatMap((directory) => ["--ro-bind", directory, directory]),
    ...plan.system.flatMap(({ name, link }) => ["--symlink", link, `/${name}`]),
    ...(node === undefined ? [] : ["--ro-bind", node, nodeInside]),
    ...["--ro-bind", plan.etc, "/etc"],
    ...["--proc", "/proc", ...plan.settings.flatMap((directory) => ["--ro-bind", directory, directory])],
    ...deviceArguments(plan),
    ...["/tmp", "/workspace", "/output"].flatMap((directory) => [...sized, directory]),
    ...["--ro-bind", plan.inside, "/inside", "--ro-bind", plan.skills, "/skills", "--ro-bind", plan.blobs, "/blobs"],
    ...(project === undefined ? [] : [project.writable ? "--bind" : "--ro-bind", project.directory, "/project"]),
    ...(packages === undefined ? [] : ["--ro-bind", packages, "/packages"]),
    ...["--remount-ro", "/", "--chdir", "/workspace", "--"],
    ...supervisorCommand(python, "/inside", "bubblewrap", plan.walls, plan.flags),
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
