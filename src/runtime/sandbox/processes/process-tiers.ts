import { searchPath } from "../../../base/processes/find-program.ts";
import {
  type HostDirectory,
  makeHostDirectory,
  sweepLeftovers,
  whereSandboxesReach,
} from "../directory/host-directory.ts";
import { removeTree } from "../directory/private-directory.ts";
import type { TierOptions } from "../drive/sandbox-life.ts";
import { type Python, findCommand, findPython } from "../find.ts";
import { installCommand } from "../find/install-remedy.ts";
import { testSandbox } from "../find/self-probe.ts";
import type { Explanation, Sandbox } from "../../sandbox.ts";
import { cannotShow, openBubblewrapSandbox } from "./bubblewrap-sandbox.ts";
import { readOrNothing } from "./cgroups.ts";
import { openLandlockSandbox } from "./landlock-sandbox.ts";
import type { ProcessSandboxOptions } from "./process-sandbox.ts";
import { makeSyntheticRoot } from "./shown-files.ts";

type Options = TierOptions & Pick<ProcessSandboxOptions, "cgroups">;

/** Opens the bubblewrap tier if it passes its self-test, or returns why it is not available. */
export function openBubblewrapTier(options: Options): Promise<Sandbox | Explanation> {
  // A project's directory may stand first on PATH.
  const bubblewrap = findCommand("bwrap", searchPath().includes("/usr/bin") ? ["/usr/bin"] : []);
  if (bubblewrap === undefined)
    return Promise.resolve({ reason: "bubblewrap is not installed.", fix: [installCommand("bubblewrap")] });
  return openTier(options, (python, host) => {
    const hidden = cannotShow(python);
    if (hidden !== undefined) return { reason: hidden, fix: [installCommand("python3")] };
    return openBubblewrapSandbox({ ...options, bubblewrap, python, host, root: makeSyntheticRoot(host.path) });
  }).then((opened) =>
    "run" in opened || opened.fix.length > 0 ? opened : explainBubblewrap(opened.reason, readNamespaceSettings()),
  );
}

/** The same for the landlock tier. */
export function openLandlockTier(options: Options): Promise<Sandbox | Explanation> {
  return openTier(options, (python, host) => openLandlockSandbox({ ...options, python, host }));
}

async function openTier(
  options: Options,
  open: (python: Python, host: HostDirectory) => Sandbox | Explanation,
): Promise<Sandbox | Explanation> {
  const { log } = options;
  const temporaryDirectory = whereSandboxesReach(options.temporaryDirectory);
  await sweepLeftovers(log, temporaryDirectory);
  const python = await findPython(options.python);
  if ("reason" in python) return { ...python, fix: [installCommand("python3")] };
  const host = await makeHostDirectory(python, temporaryDirectory);
  try {
    const opened = open(python, host);
    if ("run" in opened) return await testSandbox(opened, temporaryDirectory);
    await removeTree(host.path);
    return opened;
  } catch (error) {
    await removeTree(host.path);
    throw error;
  }
}

/** What prevents unprivileged user namespaces. */
export interface NamespaceSettings {
  readonly restrictedByAppArmor: boolean;
  readonly forbiddenToUsers: boolean;
  readonly disabled: boolean;
  readonly inContainer: boolean;
}

const appArmorProfile = [
  "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n'",
  "sudo tee /etc/apparmor.d/bwrap",
].join(" | ");

const causes: readonly (Explanation & { readonly cause: keyof NamespaceSettings })[] = [
  {
    cause: "restrictedByAppArmor",
    reason: "AppArmor on this system restricts user namespaces to programs with a profile.",
    fix: [appArmorProfile, "sudo apparmor_parser -r /etc/apparmor.d/bwrap"],
  },
  {
    cause: "forbiddenToUsers",
    reason: "This system restricts user namespaces to root.",
    fix: ["sudo sysctl -w kernel.unprivileged_userns_clone=1"],
  },
  {
    cause: "disabled",
    reason: "User namespaces are disabled on this system.",
    fix: ["sudo sysctl -w user.max_user_namespaces=15000"],
  },
  {
    cause: "inContainer",
    reason: "This container does not allow nested namespaces.",
    fix: [
      "Start the container with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined",
    ],
  },
];

/** Explains an error message of bubblewrap. */
export function explainBubblewrap(said: string, settings: NamespaceSettings): Explanation {
  const found = causes.find(({ cause }) => settings[cause]);
  return found === undefined ? { reason: said, fix: [] } : { reason: `${found.reason} ${said}`, fix: found.fix };
}

function readNamespaceSettings(): NamespaceSettings {
  const appArmor = readOrNothing("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").trim();
  const container = readOrNothing("/proc/1/cgroup") + readOrNothing("/proc/1/environ");
  return {
    restrictedByAppArmor: appArmor !== "" && appArmor !== "0",
    forbiddenToUsers: readOrNothing("/proc/sys/kernel/unprivileged_userns_clone").trim() === "0",
    disabled: readOrNothing("/proc/sys/user/max_user_namespaces").trim() === "0",
    inContainer: /docker|containerd|kubepods|libpod|lxc/.test(container),
  };
}
