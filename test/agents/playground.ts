import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** A temporary folder with a clean home, a project and a folder of skills that only we are told of. */
export interface Playground {
  readonly home: string;
  readonly project: string;
  readonly explicitSkills: string;
  /** Where processes are to put what is temporary. */
  readonly temporary: string;
  readonly remove: () => Promise<void>;
}

/** A skill to put on disk. The instructions are what a test looks for at the model. */
export interface WrittenSkill {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
}

export async function makePlayground(): Promise<Playground> {
  const base = await mkdtemp(join(tmpdir(), "acp-skills-playground-"));
  // Where this is root, skills run as other users, who must get to their part of it.
  await chmod(base, 0o711);
  const [home = "", project = "", explicitSkills = "", temporary = ""] = await Promise.all(
    ["home", "project", "skills", "tmp"].map(async (name) => {
      await mkdir(join(base, name));
      return join(base, name);
    }),
  );
  return { home, project, explicitSkills, temporary, remove: () => remove(base, home) };
}

/** Agents' own children outlive them for a moment, and would write a removed home anew. */
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
 * Ids of living processes that were started with this home, whoever is their parent by now.
 * It reads the environment of every process, which only Linux offers; elsewhere it finds none.
 */
export async function processesWithHome(home: string): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const found: string[] = [];
  for (const id of (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))) {
    // Processes end while we look, and some are not ours to read.
    const environment = await readFile(`/proc/${id}/environ`, "utf8").catch(() => "");
    if (environment.split("\0").includes(`HOME=${home}`)) found.push(id);
  }
  return found;
}
