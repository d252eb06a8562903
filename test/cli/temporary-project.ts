import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";

export interface TemporaryProject {
  readonly directory: string;
  /** Writes a file below the directory and returns its absolute path. */
  write(file: string, content: string | Uint8Array): string;
  at(...segments: string[]): string;
}

/** Creates a new directory for each test of a file. */
export function useTemporaryProject(): TemporaryProject {
  let directory = "";
  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-cli-")));
  });
  afterEach(() => {
    // Processes of the test may still be writing their last line.
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });
  return {
    get directory() {
      return directory;
    },
    write(file, content) {
      const target = path.join(directory, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, content);
      return target;
    },
    at(...segments) {
      return path.join(directory, ...segments);
    },
  };
}

/** A valid SKILL.md for the directory `name`. */
export function skillText(name: string, description = `Does ${name}. Use when ${name} is asked for.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nDo it.\n`;
}

/** Writes an action that needs a secret; it is refused before a sandbox is started. */
export function writeSecretAction(project: TemporaryProject): void {
  const name = "key.use";
  project.write(`skills/${name}/SKILL.md`, skillText(name));
  project.write(`skills/${name}/code/main.py`, "def main():\n    pass\n");
  const manifest = [
    `name = "${name}"\nversion = "1.0.0"\ndescription = "Uses a key."\nkind = "action"`,
    '[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"',
    '[permissions]\nsecrets = ["ACP_SKILLS_ABSENT_KEY"]\n',
  ];
  project.write(`skills/${name}/skill.toml`, manifest.join("\n"));
}
