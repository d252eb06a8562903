import { SkillsError } from "../../base/errors.ts";
import { type SecretSource, isSecretName } from "../secrets.ts";

export type KeychainPlatform = "darwin" | "linux";

/** Whether the platform has a keychain with a command line; Windows has none that returns passwords. */
export function hasKeychain(platform: NodeJS.Platform): platform is KeychainPlatform {
  return platform === "darwin" || platform === "linux";
}

/** A platform's keychain command, which prints the value. Its arguments contain the name only. */
interface Keychain {
  readonly command: string;
  toArguments(name: string): string[];
  /** Whether it prints a newline after the value. */
  readonly endsLine: boolean;
  isAbsent(exitCode: number | undefined, stderr: string): boolean;
}

const itemNotFound = 44;

const keychains: Readonly<Record<KeychainPlatform, Keychain>> = {
  darwin: {
    command: "/usr/bin/security",
    // `-w` prints values that are not ASCII in hexadecimal, which cannot be distinguished from a value stored so.
    toArguments: (name) => ["find-generic-password", "-s", "acp-skills", "-a", name, "-w"],
    endsLine: true,
    isAbsent: (exitCode) => exitCode === itemNotFound,
  },
  linux: {
    command: "secret-tool",
    toArguments: (name) => ["lookup", "service", "acp-skills", "name", name],
    endsLine: false,
    isAbsent: (exitCode, stderr) => exitCode === 1 && stderr.trim() === "",
  },
};

/** The user may have to unlock it. */
const patience = 120_000;
const greatestValue = 64 * 1024;

/**
 * Reads from the system's keychain, service `acp-skills`: Keychain on macOS, Secret Service on Linux (with `secret-tool`; without it,
 * there are no values). `command` replaces the program, for tests.
 */
export function keychainSecrets(platform: KeychainPlatform, options: { readonly command?: string } = {}): SecretSource {
  const keychain = keychains[platform];
  return {
    async read(name, { skill }) {
      if (!isSecretName(name)) return undefined;
      // Loaded lazily: few runs need it.
      const { execa } = await import("execa");
      const asked = await execa(options.command ?? keychain.command, keychain.toArguments(name), {
        stdin: "ignore",
        stripFinalNewline: false,
        reject: false,
        timeout: patience,
        maxBuffer: greatestValue,
        windowsHide: true,
      });
      if (asked.code === "ENOENT" || keychain.isAbsent(asked.exitCode, asked.stderr)) return undefined;
      if (asked.failed) {
        // Without the cause, which contains the program's output.
        const message = `Reading ${name} for the skill ${skill} from the keychain failed${why(asked)}.`;
        throw new SkillsError("UNREADABLE", message, { facts: { name, skill } });
      }
      const value = keychain.endsLine ? asked.stdout.replace(/\n$/, "") : asked.stdout;
      return value === "" ? undefined : value;
    },
  };
}

function why(asked: { timedOut: boolean; isMaxBuffer: boolean; exitCode?: number }): string {
  if (asked.timedOut) return ": timed out after two minutes";
  if (asked.isMaxBuffer) return ": the value exceeds 64 KiB";
  return asked.exitCode === undefined ? "" : ` (exit code ${asked.exitCode}); it may be locked`;
}
