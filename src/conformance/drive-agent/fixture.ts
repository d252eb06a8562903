import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A temporary project with one skill, where agents look for skills. */
export interface Fixture {
  readonly directory: string;
  /** The descriptions of the skill before and after `edit`; nobody else uses these words. */
  readonly descriptions: readonly [string, string];
  edit(): Promise<void>;
  remove(): Promise<void>;
  /** Removes the project. */
  close(): Promise<void>;
}

const fixtureName = "conformance-fixture";
const descriptions = [
  "Written by acp-skills conformance, to see how skills arrive.",
  "Edited by acp-skills conformance, to see how changes arrive.",
] as const;

export async function makeFixture(): Promise<Fixture> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), "acp-skills-conformance-")));
  const places = [".agents", ".claude"].map((root) => path.join(directory, root, "skills", fixtureName));
  const write = async (description: string): Promise<void> => {
    for (const place of places) {
      await mkdir(place, { recursive: true });
      const text = `---\nname: ${fixtureName}\ndescription: ${description}\nlicense: MIT\n---\n\nAnswer with one word.\n`;
      await writeFile(path.join(place, "SKILL.md"), text);
    }
  };
  const [first, second] = descriptions;
  await write(first);
  return {
    directory,
    descriptions,
    edit: async () => {
      await write(second);
    },
    async remove() {
      for (const place of places) await rm(place, { recursive: true, force: true });
    },
    close: async () => {
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
