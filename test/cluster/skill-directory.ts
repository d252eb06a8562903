import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { diskSkillBytes, diskSkillFiles } from "../../src/skills/files.ts";
import { createSkillHasher } from "../../src/skills/hash.ts";

/** A new, empty directory of this test. */
export function newDirectory(): string {
  const directory = realpathSync.native(mkdtempSync(path.join(tmpdir(), "acp-skills-cluster-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Writes a skill with these files and its SKILL.md below a new directory. */
export function writeSkill(
  name: string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  { version = "1.0.0" }: { readonly version?: string } = {},
): string {
  const directory = path.join(newDirectory(), name);
  const text = `---\nname: ${name}\ndescription: Does ${name}.\nmetadata:\n  version: ${version}\n---\nText\n`;
  for (const [file, content] of Object.entries({ "SKILL.md": text, ...files })) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), content);
  }
  return directory;
}

export async function digestOfDirectory(directory: string): Promise<string> {
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const { digest } = await createSkillHasher().hash(source, directory, new AbortController().signal);
  return digest ?? "";
}
