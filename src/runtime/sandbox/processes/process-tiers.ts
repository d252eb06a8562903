import { searchPath } from "../../../base/processes/find-program.ts";
import { ownRoots } from "../directory/private-directory.ts";
import { type TierOptions, beyondPython, lacking } from "../drive/sandbox-life.ts";
import { findCommand, installCommand } from "../find.ts";
import { openPythonTier } from "../find/self-probe.ts";
import type { Explanation, Sandbox } from "../../sandbox.ts";
import { cannotShow, openBubblewrapSandbox } from "./bubblewrap-sandbox.ts";
import { readOrNothing } from "./cgroups.ts";
import {
  type ProcessSandboxOptions,
  openProcessSandbox,
  supervisorCommand,
  wallsOfProject,
} from "./process-sandbox.ts";
import { makeSyntheticRoot, findScriptTools, programLoaders, shownToPython } from "./shown-files.ts";

type Options = TierOptions & Pick<ProcessSandboxOptions, "cgroups">;

/** Opens the bubblewrap tier if it passes its self-test, or returns why it is not available. */
export function openBubblewrapTier(options: Options): Promise<Sandbox | Explanation> {
  // A project's directory may be first on PATH.
  const bubblewrap = findCommand("bwrap", searchPath().includes("/usr/bin") ? ["/usr/bin"] : []);
  if (bubblewrap === undefined)
    return Promise.resolve({ reason: "bubblewrap is not installed.", fix: [installCommand("bubblewrap")] });
  return openPythonTier(options, installCommand("python3"), (python, host) => {
    const hidden = cannotShow(python);
    if (hidden !== undefined) return { reason: hidden, fix: [installCommand("python3")] };
    return openBubblewrapSandbox({ ...options, bubblewrap, python, host, root: makeSyntheticRoot(host.path) });
  }).then((opened) => ("run" in opened || opened.fix.length > 0 ? opened : explainBubblewrap(opened.reason)));
}

const appArmorProfile = [
  "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n'",
  "sudo tee /etc/apparmor.d/bwrap",
].join(" | ");

/** The causes that prevent unprivileged user namespaces. */
const causes: readonly (Explanation & { readonly isIn: (read: typeof readOrNothing) => boolean })[] = [
  {
    isIn: (read) => /[^0\s]/.test(read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")),
    reason: "AppArmor on this system restricts user namespaces to programs with a profile.",
    fix: [appArmorProfile, "sudo apparmor_parser -r /etc/apparmor.d/bwrap"],
  },
  {
    isIn: (read) => read("/proc/sys/kernel/unprivileged_userns_clone").trim() === "0",
    reason: "This system restricts user namespaces to root.",
    fix: ["sudo sysctl -w kernel.unprivileged_userns_clone=1"],
  },
  {
    isIn: (read) => read("/proc/sys/user/max_user_namespaces").trim() === "0",
    reason: "User namespaces are disabled on this system.",
    fix: ["sudo sysctl -w user.max_user_namespaces=15000"],
  },
  {
    isIn: (read) => /docker|containerd|kubepods|libpod|lxc/.test(read("/proc/1/cgroup") + read("/proc/1/environ")),
    reason: "This container does not allow nested namespaces.",
    fix: [
      "Start the container with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined",
    ],
  },
];

/** Explains an error message of bubblewrap by the settings of the kernel. */
export function explainBubblewrap(said: string, read = readOrNothing): Explanation {
  const found = causes.find(({ isIn }) => isIn(read));
  return found === undefined ? { reason: said, fix: [] } : { reason: `${found.reason} ${said}`, fix: found.fix };
}

const readable = [
  ...["/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/etc/mime.types"],
  ...["/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/pki/tls/certs", "/dev/random", "/dev/urandom"],
];
const writable = ["/dev/null"];

/**
 * Opens the landlock tier if it passes its self-test, or returns why it is not available. The tier is for machines without user namespaces.
 * Before user code runs, the process gives up access to all files but its own, to sockets, and to other processes. Network access is not
 * supported.
 */
export function openLandlockTier(options: Options): Promise<Sandbox | Explanation> {
  return openPythonTier(options, installCommand("python3"), (python, host) => {
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
          // Whether files and processes outside the sandbox belong to the same user.
          const isSomebody = process.getuid?.() !== 0 || project !== undefined;
          const { workspace, output, temporary, ...others } = ownRoots(directory, shape);
          const mounted = Object.values(others).filter((file) => file !== null);
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
      { ...options, host },
    );
  });
}

const forRoot = "projects that only root can use";
const whyNotForRoot =
  "The landlock tier cannot run code as root, and only root can use the project: change its owner, or run acp-skills as an ordinary user.";
