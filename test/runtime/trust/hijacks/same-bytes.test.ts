import { hash } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { diskSkillBytes, diskSkillFiles } from "../../../../src/skills/files/disk-skill-files.ts";
import { createSkillHasher } from "../../../../src/skills/hash.ts";
import { temporaryDirectory } from "../../secrets/temporary-directory.ts";
import { openAttackedWorld, ownRoot, projectRoot } from "./attacked-world.ts";
import { layouts } from "./layouts.ts";

const files = layouts[0]?.files ?? {};

function at(directory: string): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [`${directory}/${file}`, text]));
}

test("the same bytes in another place are not asked about again", async () => {
  const world = await openAttackedWorld(at(`${ownRoot}/deploy`), {});
  expect(await world.run("deploy")).toBe(true);
  // As a git clone: with hidden files; as an archive: below a directory of its own; as a copy: in another root.
  for (const directory of [`${ownRoot}/cloned`, `${ownRoot}/archive/deploy-1.2.0`, `${projectRoot}/deploy`]) {
    world.files.remove(`${ownRoot}/deploy`);
    world.files.remove(`${ownRoot}/cloned`);
    world.files.remove(`${ownRoot}/archive`);
    for (const [file, text] of Object.entries(at(directory))) world.files.write(file, text);
    world.files.write(`${directory}/.git/config`, directory);
    await world.notice();
    expect(await world.run("deploy")).toBe(true);
  }
  expect(world.asked).toHaveLength(1);
  expect(world.executed).toHaveLength(4);
});

test("a file whose name holds the line of another one is never run as the approved skill", async () => {
  const { "code/main.py": main = "", ...others } = files;
  const world = await openAttackedWorld(at(`${ownRoot}/deploy`), {});
  expect(await world.run("deploy")).toBe(true);
  // What was hashed as two lines: of a file, and of the next one.
  const [second = "", text = ""] = Object.entries(others)[1] ?? [];
  world.files.write(`${ownRoot}/deploy/code/main.py\n${hash("sha256", text)}  ${second}`, main);
  world.files.write(`${ownRoot}/deploy/code/main.py`, "def main(args): return 'bad'\n");
  await world.notice();
  expect(await world.run("deploy")).toBe(false);
  expect(world.asked).toHaveLength(1);
  expect(world.executed).toHaveLength(1);
});

test("modes and times are not part of what is approved, because installers change them", async () => {
  const directory = path.join(temporaryDirectory(), "deploy");
  mkdirSync(directory);
  const file = path.join(directory, "run.sh");
  writeFileSync(file, "echo\n");
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const digest = async () => (await createSkillHasher().hash(source, directory, new AbortController().signal)).digest;
  const before = await digest();
  chmodSync(file, 0o755);
  expect(await digest()).toBe(before);
  writeFileSync(file, "echo \n");
  expect(await digest()).not.toBe(before);
});
