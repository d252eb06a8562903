import { constants, existsSync } from "node:fs";
import { open, realpath } from "node:fs/promises";
import path from "node:path";
import { parseEnv } from "node:util";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import { type SecretSource, memorySecrets } from "../secrets.ts";

const greatestFile = 1024 * 1024;
const skillFiles = ["SKILL.md", "skill.md", "skill.toml"];

/**
 * Reads a `.env` file that the user named, on every call. A file inside a skill is refused: the skill's author would choose the values,
 * or the skill would be shared with them.
 */
export function envFileSecrets(file: string): SecretSource {
  return {
    async read(name, context) {
      const values = parseEnv(await readOutsideSkills(file));
      return memorySecrets(values).read(name, context);
    },
  };
}

async function readOutsideSkills(file: string): Promise<string> {
  try {
    const real = await realpath(file);
    const skill = findSkillAround(real);
    if (skill !== undefined) {
      throw unreadable(
        file,
        `it lies inside the skill ${skill}; keep it outside of every directory that holds a SKILL.md`,
      );
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
  for (let directory = path.dirname(file); ; directory = path.dirname(directory)) {
    if (skillFiles.some((name) => existsSync(path.join(directory, name)))) return directory;
    if (directory === path.dirname(directory)) return undefined;
  }
}

function unreadable(file: string, why: string, cause?: unknown): SkillsError {
  const message = `The file of secrets ${JSON.stringify(file)} cannot be used: ${why}.`;
  return new SkillsError("UNREADABLE", message, { ...(cause !== undefined && { cause }), facts: { path: file } });
}
