import { ownRoots } from "../directory/private-directory.ts";
import { beyondPython, lacking } from "../drive/sandbox-life.ts";
import type { Python } from "../find.ts";
import type { Sandbox } from "../../sandbox.ts";
import {
  type ProcessSandboxOptions,
  openProcessSandbox,
  supervisorCommand,
  wallsOfProject,
} from "./process-sandbox.ts";
import { findScriptTools, programLoaders, shownToPython } from "./shown-files.ts";

const readable = [
  ...["/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/etc/mime.types"],
  ...["/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/pki/tls/certs", "/dev/random", "/dev/urandom"],
];
const writable = ["/dev/null"];

/**
 * For machines without user namespaces: before user code runs, the process gives up access to all files but its own, to sockets, and
 * to other processes. Network access is not supported.
 */
export function openLandlockSandbox(options: ProcessSandboxOptions & { readonly python: Python }): Sandbox {
  const { python, host } = options;
  const shown = shownToPython(python);
  const loaders = programLoaders();
  return openProcessSandbox(
    {
      tier: "landlock",
      lacks: {
        ...lacking("landlock", ...beyondPython),
        ...(process.getuid?.() === 0 && { [forRoot]: whyNotForRoot }),
      },
      refuses: ({ isLent }) => (isLent ? whyNotForRoot : undefined),
      command(directory, shape, flags) {
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
        const all = isSomebody ? ["owner", ...flags] : flags;
        const [file = "", ...given] = supervisorCommand(python, host.inside, "landlock", walls, all);
        return { file, arguments: given };
      },
    },
    options,
  );
}

const forRoot = "projects that only root can use";
const whyNotForRoot =
  "The landlock tier cannot run code as root, and only root can use the project: change its owner, or run acp-skills as an ordinary user.";
