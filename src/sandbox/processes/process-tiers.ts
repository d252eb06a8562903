import { readFileSync } from "node:fs";
import { findCommand, findPython } from "../find/find-programs.ts";
import type { Python } from "../find/find-programs.ts";
import {
  makeHostDirectory,
  removeHostDirectory,
  whereSandboxesReach,
  sweepLeftovers,
} from "../directory/host-directory.ts";
import type { HostDirectory } from "../directory/host-directory.ts";
import type { Explanation, Sandbox } from "../sandbox.ts";
import { probeSandbox } from "../find/self-probe.ts";
import { openBubblewrapSandbox, cannotShow } from "./bubblewrap-sandbox.ts";
import { openLandlockSandbox } from "./landlock-sandbox.ts";
import type { ProcessSandboxOptions } from "./process-sandbox.ts";
import { makeSyntheticRoot } from "./shown-files.ts";

export interface ProcessTierOptions extends Omit<ProcessSandboxOptions, "host"> {
  /** The interpreter to use; by default, one is searched for. */
  readonly python: string | undefined;
  readonly temporaryDirectory: string | undefined;
}

const installPython: readonly string[] = ["sudo apt-get install python3", "sudo dnf install python3"];

/** Opens the bubblewrap tier if it passes its self-test, or returns why it is not available. */
export function openBubblewrapTier(options: ProcessTierOptions): Promise<Sandbox | Explanation> {
  const bubblewrap = findCommand("bwrap", ["/usr/bin"]);
  if (bubblewrap === undefined) return Promise.resolve(bubblewrapMissing);
  return openTier(options, (python, host) => {
    const hidden = cannotShow(python);
    if (hidden !== undefined) return { reason: hidden, fix: installPython };
    return openBubblewrapSandbox({ ...options, bubblewrap, python, host, root: makeSyntheticRoot(host.path) });
  }).then((opened) =>
    "run" in opened || opened.fix.length > 0 ? opened : explainBubblewrap(opened.reason, readNamespaceSettings()),
  );
}

/** The same for the landlock tier. */
export function openLandlockTier(options: ProcessTierOptions): Promise<Sandbox | Explanation> {
  return openTier(options, (python, host) => openLandlockSandbox({ ...options, python, host }));
}

async function openTier(
  options: ProcessTierOptions,
  open: (python: Python, host: HostDirectory) => Sandbox | Explanation,
): Promise<Sandbox | Explanation> {
  const { log } = options;
  const temporaryDirectory = whereSandboxesReach(options.temporaryDirectory);
  await sweepLeftovers(log, temporaryDirectory);
  const python = await findPython(options.python);
  if ("reason" in python) return { ...python, fix: installPython };
  const host = await makeHostDirectory(python, temporaryDirectory);
  const removeHost = (): Promise<void> => removeHostDirectory(host.path);
  try {
    const opened = open(python, host);
    const fault = "run" in opened ? await probeSandbox(opened, temporaryDirectory) : undefined;
    if ("run" in opened && fault === undefined) return closingWith(opened, removeHost);
    if ("run" in opened) await opened.close();
    await removeHost();
    return "run" in opened ? { reason: fault ?? "", fix: [] } : opened;
  } catch (error) {
    await removeHost();
    throw error;
  }
}

/** `close` is idempotent. */
function closingWith(sandbox: Sandbox, close: () => Promise<void>): Sandbox {
  let closed: Promise<void> | undefined;
  return { ...sandbox, close: () => (closed ??= sandbox.close().then(close)) };
}

/** Kernel settings for unprivileged user namespaces; `undefined` if the kernel does not have the setting. */
export interface NamespaceSettings {
  readonly restrictedByAppArmor: boolean | undefined;
  readonly unprivilegedClone: boolean | undefined;
  readonly mostNamespaces: number | undefined;
  readonly inContainer: boolean;
}

export const bubblewrapMissing: Explanation = {
  reason: "bubblewrap is not installed.",
  fix: ["sudo apt-get install bubblewrap", "sudo dnf install bubblewrap", "sudo pacman -S bubblewrap"],
};

const appArmorProfile = [
  "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n'",
  "sudo tee /etc/apparmor.d/bwrap",
].join(" | ");

/** Explains an error message of bubblewrap. */
export function explainBubblewrap(said: string, settings: NamespaceSettings): Explanation {
  if (settings.restrictedByAppArmor === true) {
    return {
      reason: `AppArmor on this system restricts user namespaces to programs with a profile. ${said}`,
      fix: [appArmorProfile, "sudo apparmor_parser -r /etc/apparmor.d/bwrap"],
    };
  }
  if (settings.unprivilegedClone === false) {
    return {
      reason: `This system restricts user namespaces to root. ${said}`,
      fix: ["sudo sysctl -w kernel.unprivileged_userns_clone=1"],
    };
  }
  if (settings.mostNamespaces === 0) {
    return {
      reason: `User namespaces are disabled on this system. ${said}`,
      fix: ["sudo sysctl -w user.max_user_namespaces=15000"],
    };
  }
  if (settings.inContainer) {
    return {
      reason: `This container does not allow nested namespaces. ${said}`,
      fix: [
        "Start the container with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined",
      ],
    };
  }
  return { reason: said, fix: [] };
}

export function readNamespaceSettings(): NamespaceSettings {
  return {
    restrictedByAppArmor: flag(readSetting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")),
    unprivilegedClone: flag(readSetting("/proc/sys/kernel/unprivileged_userns_clone")),
    mostNamespaces: readSetting("/proc/sys/user/max_user_namespaces"),
    inContainer: isContainer(),
  };
}

function flag(value: number | undefined): boolean | undefined {
  return value === undefined ? undefined : value !== 0;
}

function readSetting(path: string): number | undefined {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return undefined; // Not in this kernel.
  }
}

function isContainer(): boolean {
  try {
    return /docker|containerd|kubepods|libpod|lxc/.test(
      readFileSync("/proc/1/cgroup", "utf8") + readFileSync("/proc/1/environ", "latin1"),
    );
  } catch {
    return false; // Not readable.
  }
}
