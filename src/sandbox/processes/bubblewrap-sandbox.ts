import { existsSync, lstatSync, mkdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { bubblewrapArguments, nodeInside, ownPlaces } from "./bubblewrap-arguments.ts";
import { isWithin } from "../../base/paths/is-within.ts";
import type { BubblewrapPlan } from "./bubblewrap-arguments.ts";
import type { Python } from "../find/find-python.ts";
import { openProcessSandbox } from "./process-sandbox.ts";
import type { ProcessSandboxOptions } from "./process-sandbox.ts";
import { wallsOfProject } from "../directory/guarded-names.ts";
import { ownFiles } from "../directory/own-files.ts";
import type { Json, Sandbox, SandboxRun } from "../sandbox.ts";
import { showNode } from "../directory/show-to-nobody.ts";
import { makeProgramDirectory, shownToPython } from "./shown-programs.ts";
import type { SyntheticRoot } from "./synthetic-root.ts";

export interface BubblewrapOptions extends ProcessSandboxOptions {
  readonly bubblewrap: string;
  readonly python: Python;
  readonly root: SyntheticRoot;
}

/** The strongest tier: Linux namespaces created by bubblewrap, which does not need root. */
export function openBubblewrapSandbox(options: BubblewrapOptions): Sandbox {
  const { bubblewrap, python, root, host } = options;
  const system = systemDirectories();
  const settings = ["/proc/sys", "/proc/pressure"].filter((place) => existsSync(place));
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
      writable: [],
      refuses: ({ program }) =>
        node !== undefined || program.type !== "script" || program.language !== "node"
          ? undefined
          : `Node scripts are not available: only root can read ${process.execPath}.`,
      command(directory, shape, wishes, user) {
        const lent = user.isLent ? shape.project : undefined;
        const place = join(directory.path, "project");
        const plan: BubblewrapPlan = {
          ...shape,
          project: lent === undefined ? shape.project : { ...lent, directory: place },
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
          wishes,
        };
        const command = { file: bubblewrap, arguments: bubblewrapArguments(plan) };
        if (lent === undefined) return command;
        mkdirSync(place);
        const given = [String(user.id), lent.directory, place, command.file, ...command.arguments];
        return {
          file: python.executable,
          arguments: ["-I", "-S", "-B", ownFiles.showProject, ...given],
          user: undefined,
        };
      },
      surroundings: (_directory, shape) => ({
        tier: "bubblewrap",
        roots: {
          skills: "/skills",
          workspace: "/workspace",
          blobs: "/blobs",
          output: "/output",
          temporary: "/tmp",
          project: shape.project === undefined ? null : "/project",
          packages: shape.packages === undefined ? null : "/packages",
        },
        interpreters: { python: python.executable, bash: "/bin/bash", node: nodeInside },
        environment: {
          PATH: "/usr/bin:/bin:/opt/node/bin",
          HOME: "/workspace",
          LANG: "C.UTF-8",
          TMPDIR: "/tmp",
          PYTHONDONTWRITEBYTECODE: "1",
        },
      }),
    },
    options,
  );
}

/**
 * Landlock rules inside the namespaces. They hide files of `/proc` that reveal paths of the host and its boot id, and prevent writing
 * to named pipes in read-only mounts such as a project, which processes outside may read.
 */
function secondWall(shown: readonly string[], project: SandboxRun["project"]): { readonly [key: string]: Json } {
  const own = [
    "/usr",
    "/opt",
    "/etc",
    "/dev",
    "/inside",
    "/skills",
    "/blobs",
    "/packages",
    "/project",
    ...writablePlaces,
  ];
  const readable = ["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"];
  return {
    readable: readable.map((name) => `/proc/${name}`),
    runnable: [...own, ...shown],
    writable: [...writablePlaces, "/dev/null"],
    ...(project && wallsOfProject("/project", project)),
  };
}

const writablePlaces = ["/workspace", "/output", "/tmp", "/dev/shm"];

/** Why this interpreter cannot be mounted, or `undefined`. */
export function cannotShow({ executable, prefix }: Python): string | undefined {
  const hidden = ownPlaces.find((place) => isWithin(prefix, place));
  return hidden === undefined
    ? undefined
    : `${executable} is installed in ${prefix}, which the sandbox replaces with its own directory.`;
}

/** `/lib` and others are links into `/usr` on most systems. */
function systemDirectories(): BubblewrapPlan["system"] {
  const libraries = ["lib", "lib32", "lib64", "libx32"].flatMap((name) => {
    try {
      return lstatSync(`/${name}`).isSymbolicLink() ? [{ name, link: readlinkSync(`/${name}`) }] : [];
    } catch {
      return []; // Absent on this system.
    }
  });
  return [...["bin", "sbin"].map((name) => ({ name, link: "usr/bin" })), ...libraries];
}
