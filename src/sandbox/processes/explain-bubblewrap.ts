import { readFileSync } from "node:fs";
import type { Explanation } from "../sandbox.ts";

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
