import { SkillsError } from "../errors.ts";
import { isSecretName } from "./secret-source.ts";
import type { SecretSource } from "./secret-source.ts";

export type KeychainPlatform = "darwin" | "linux";

/** Where the system has a keychain that a program can ask by name; Windows gives stored passwords out to compiled code only. */
export function hasKeychain(platform: NodeJS.Platform): platform is KeychainPlatform {
  return platform === "darwin" || platform === "linux";
}

/** How a platform's keychain is asked. The value comes on stdout; argv holds only the name. */
interface Keychain {
  readonly command: string;
  toArguments(name: string): string[];
  /** Adds a newline to what it prints. */
  readonly endsLine: boolean;
  isAbsent(exitCode: number | undefined, stderr: string): boolean;
}

const itemNotFound = 44;

const keychains: Readonly<Record<KeychainPlatform, Keychain>> = {
  darwin: {
    command: "/usr/bin/security",
    // A value that is not plain ASCII is printed by `-w` in hexadecimal, and cannot be told from one that was stored so.
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

/** A person may have to unlock it. */
const patience = 120_000;
const greatestValue = 64 * 1024;

/**
 * Reads from the operating system's keychain, service `acp-skills`: the Keychain on macOS, the Secret Service on Linux (through
 * `secret-tool`; where that is not installed there are no values). `command` replaces the program that is asked.
 */
export function keychainSecrets(platform: KeychainPlatform, options: { readonly command?: string } = {}): SecretSource {
  const keychain = keychains[platform];
  return {
    async read(name, { skill }) {
      if (!isSecretName(name)) return undefined;
      // Loaded when it is needed: few runs ask a keychain.
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
        // Not the cause: it holds what the program printed.
        throw new SkillsError(
          "UNREADABLE",
          `The keychain did not give out ${name} for the skill ${skill}${why(asked)}.`,
          {
            facts: { name, skill },
          },
        );
      }
      const value = keychain.endsLine ? asked.stdout.replace(/\n$/, "") : asked.stdout;
      return value === "" ? undefined : value;
    },
  };
}

function why({
  timedOut,
  isMaxBuffer,
  exitCode,
}: {
  timedOut: boolean;
  isMaxBuffer: boolean;
  exitCode?: number;
}): string {
  if (timedOut) return ": it did not answer in two minutes";
  if (isMaxBuffer) return ": the value is longer than 64 KiB";
  return exitCode === undefined ? "" : ` (exit code ${exitCode}): is it locked?`;
}
