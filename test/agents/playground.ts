import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A temporary folder with an empty home, a project and a folder of skills that only the wrapper knows. */
export interface Playground {
  readonly home: string;
  readonly project: string;
  readonly explicitSkills: string;
  /** The directory for temporary files of processes. */
  readonly temporary: string;
  readonly remove: () => Promise<void>;
}

/** A skill to write to disk. Tests search model requests for the instructions. */
export interface WrittenSkill {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
}

export async function makePlayground(): Promise<Playground> {
  const base = await mkdtemp(join(tmpdir(), "acp-skills-playground-"));
  // If this user is root, skills run as other users, who need access to their directories.
  await chmod(base, 0o711);
  const [home = "", project = "", explicitSkills = "", temporary = ""] = await Promise.all(
    ["home", "project", "skills", "tmp"].map(async (name) => {
      await mkdir(join(base, name));
      return join(base, name);
    }),
  );
  return { home, project, explicitSkills, temporary, remove: () => remove(base, home) };
}

/** Child processes of agents outlive them briefly and could recreate a removed home. */
async function remove(base: string, home: string): Promise<void> {
  for (let round = 0; round < 100 && (await processesWithHome(home)).length > 0; round++) await delay(50);
  await rm(base, { recursive: true, force: true, maxRetries: 10 });
}

/** Writes or overwrites `<folder>/<name>/SKILL.md`. */
export async function writeSkill(folder: string, { name, description, instructions }: WrittenSkill): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(
    join(folder, name, "SKILL.md"),
    `---\nname: ${name}\ndescription: ${description}\n---\n\n${instructions}\n`,
  );
}

export async function removeSkill(folder: string, name: string): Promise<void> {
  await rm(join(folder, name), { recursive: true });
}

/**
 * Ids of running processes that were started with this home, including orphans.
 * Reads the environment of every process, which is possible on Linux only; empty elsewhere.
 */
export async function processesWithHome(home: string): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const found: string[] = [];
  for (const id of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    // The process has ended meanwhile, or belongs to another user.
    const environment = await readFile(`/proc/${id}/environ`, "utf8").catch(() => "");
    if (environment.split("\0").includes(`HOME=${home}`)) found.push(id);
  }
  return found;
}
