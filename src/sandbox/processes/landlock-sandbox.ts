import type { Python } from "../find/find-programs.ts";
import { wallsOfProject } from "../directory/guarded-names.ts";
import { ownRoots } from "../directory/private-directory.ts";
import { openProcessSandbox } from "./process-sandbox.ts";
import { findScriptTools, programLoaders, shownToPython } from "./shown-files.ts";
import type { ProcessSandboxOptions } from "./process-sandbox.ts";
import type { SandboxUser } from "../directory/private-directory.ts";
import type { Sandbox, SandboxRun } from "../sandbox.ts";

export interface LandlockOptions extends ProcessSandboxOptions {
  readonly python: Python;
}

const readable = [
  ...["/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/etc/mime.types"],
  ...["/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/pki/tls/certs", "/dev/random", "/dev/urandom"],
];
const writable = ["/dev/null"];
const launch = "import sys; sys.path.insert(0, sys.argv.pop(1)); import supervisor; supervisor.main()";

/**
 * For machines without user namespaces: before user code runs, the process gives up access to all files but its own, to sockets, and
 * to other processes. Network access is not supported.
 */
export function openLandlockSandbox(options: LandlockOptions): Sandbox {
  const { python, host } = options;
  const shown = shownToPython(python);
  const loaders = programLoaders();
  return openProcessSandbox(
    {
      tier: "landlock",
      refuses,
      command(directory, shape, wishes) {
        const { project, tools } = shape;
        // Whether files and processes outside belong to the same user.
        const isSomebody = process.getuid?.() !== 0 || project !== undefined;
        const { workspace, output, temporary, ...others } = ownRoots(directory, shape);
        const mounted = Object.values(others).filter((place) => place !== null);
        const walls = {
          readable: [...readable, ...shown, host.inside, ...mounted],
          runnable: [...loaders, python.executable, ...(tools ? findScriptTools().map(({ path }) => path) : [])],
          writable: [...writable, workspace, output, temporary],
          ...(project && wallsOfProject(project.directory, project)),
        };
        const all = ["landlock", JSON.stringify(walls), ...(isSomebody ? ["owner"] : []), ...wishes];
        return { file: python.executable, arguments: ["-I", "-S", "-B", "-c", launch, host.inside, ...all] };
      },
    },
    options,
  );
}

function refuses({ program, network, project }: SandboxRun, { isLent }: SandboxUser): string | undefined {
  if (network.length > 0) return "The landlock tier does not support network access.";
  if (program.type === "script" && program.language !== "python") {
    return `The landlock tier runs Python only, not ${program.language}.`;
  }
  if (isLent) {
    return `The landlock tier cannot run code as root, and only root can use ${project?.directory}: change its owner, or run acp-skills as an ordinary user.`;
  }
  return undefined;
}
