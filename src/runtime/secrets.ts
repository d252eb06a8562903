import path from "node:path";
import { constants, existsSync } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { parseEnv } from "node:util";
import { SkillsError, isSkillsError } from "../base/errors.ts";
import { upwards } from "../base/paths/location.ts";

/**
 * A source of the secrets that skills declare by name (`permissions.secrets`). Returns the value of a name; `undefined` if it is absent or
 * empty, or the name is invalid. Throws UNREADABLE if it cannot be read; the message contains no value. Sources do not cache values.
 * `skill`: the canonical name of the skill that declared the secret, for error messages.
 */
export type SecretSource = (name: string, skill: string) => Promise<string | undefined>;

/** The form of a name, which must be checked before the name reaches a command. */
const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Reads from an object such as `process.env`, on every call. */
export function memorySecrets(values: Readonly<Record<string, string | undefined>>): SecretSource {
  return (name) => {
    const value = secretName.test(name) && Object.hasOwn(values, name) ? values[name] : undefined;
    return Promise.resolve(value === "" ? undefined : value);
  };
}

/** Reads from the first source with a value. An error of a source is not skipped: a locked keychain must not change which value is used. */
export function firstOf(sources: readonly SecretSource[]): SecretSource {
  return async (name, skill) => {
    for (const source of sources) {
      const value = await source(name, skill);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

export type KeychainPlatform = keyof typeof keychains;

/** Whether the platform has a keychain with a command line; Windows has none that returns passwords. */
export function hasKeychain(platform: NodeJS.Platform): platform is KeychainPlatform {
  return Object.hasOwn(keychains, platform);
}

const itemNotFound = 44;

/** A platform's keychain command, which prints a value. Its arguments contain only the name. `endsLine`: a newline follows the value. */
const keychains = {
  darwin: {
    command: "/usr/bin/security",
    // `-w` prints values that are not ASCII in hexadecimal, which cannot be distinguished from a value stored in that form.
    toArguments: (name: string) => ["find-generic-password", "-s", "acp-skills", "-a", name, "-w"],
    endsLine: true,
    isAbsent: (exitCode: number | undefined) => exitCode === itemNotFound,
  },
  linux: {
    command: "secret-tool",
    toArguments: (name: string) => ["lookup", "service", "acp-skills", "name", name],
    endsLine: false,
    isAbsent: (exitCode: number | undefined, stderr: string) => exitCode === 1 && stderr.trim() === "",
  },
};

/** Timeout in milliseconds: the user may have to unlock the keychain. */
const patienceMs = 120_000;
const greatestValue = 64 * 1024;

/**
 * Reads from the system's keychain, service `acp-skills`: Keychain on macOS, Secret Service on Linux (with `secret-tool`; without it,
 * there are no values). `command` replaces the program, for tests.
 */
export function keychainSecrets(platform: KeychainPlatform, options: { readonly command?: string } = {}): SecretSource {
  const keychain = keychains[platform];
  return async (name, skill) => {
    if (!secretName.test(name)) return undefined;
    // Loaded lazily: few runs need it.
    const { execa } = await import("execa");
    const asked = await execa(options.command ?? keychain.command, keychain.toArguments(name), {
      stdin: "ignore",
      stripFinalNewline: false,
      reject: false,
      timeout: patienceMs,
      maxBuffer: greatestValue,
      windowsHide: true,
    });
    if (asked.code === "ENOENT" || keychain.isAbsent(asked.exitCode, asked.stderr)) return undefined;
    if (asked.failed) {
      const how = asked.timedOut
        ? "timed out"
        : asked.isMaxBuffer
          ? "the value exceeds 64 KiB"
          : `exit code ${asked.exitCode}`;
      // The error has no cause, because that contains the program's output.
      const message = `Reading ${name} for the skill ${skill} from the keychain failed (${how}); it may be locked.`;
      throw new SkillsError("UNREADABLE", message, { facts: { name, skill } });
    }
    const value = keychain.endsLine ? asked.stdout.replace(/\n$/, "") : asked.stdout;
    return value === "" ? undefined : value;
  };
}

const greatestFile = 1024 * 1024;
const skillFiles = ["SKILL.md", "skill.md", "skill.toml"];

/**
 * Reads a `.env` file that the user named, on every call. A file inside a skill is refused: the skill's author would choose the values, or
 * the values would be shared with the skill.
 */
export function envFileSecrets(file: string): SecretSource {
  return async (name, skill) => await memorySecrets(parseEnv(await readOutsideSkills(file)))(name, skill);
}

async function readOutsideSkills(file: string): Promise<string> {
  try {
    const real = await realpath(file);
    const skill = findSkillAround(real);
    if (skill !== undefined) {
      const remedy = "keep it outside of every directory that holds a SKILL.md";
      throw unreadable(file, `it lies inside the skill ${skill}; ${remedy}`);
    }
    return await readSmallFile(real);
  } catch (error) {
    if (isSkillsError(error)) throw error;
    const why = error instanceof Error && "code" in error ? String(error.code) : "it is no text";
    throw unreadable(file, why, error);
  }
}

async function readSmallFile(file: string): Promise<string> {
  // Does not block on a FIFO.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw unreadable(file, "it is not a file");
    if (stats.size > greatestFile) throw unreadable(file, "it is larger than 1 MiB");
    return new TextDecoder("utf-8", { fatal: true }).decode(await handle.readFile());
  } finally {
    await handle.close();
  }
}

function findSkillAround(file: string): string | undefined {
  return upwards(path.dirname(file)).find((directory) =>
    skillFiles.some((name) => existsSync(path.join(directory, name))),
  );
}

function unreadable(file: string, why: string, cause?: unknown): SkillsError {
  const message = `The file of secrets ${JSON.stringify(file)} cannot be used: ${why}.`;
  return new SkillsError("UNREADABLE", message, { ...(cause !== undefined && { cause }), facts: { path: file } });
}
