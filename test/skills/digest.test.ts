import { describe, expect, it } from "vitest";
import { digestSkill } from "../../src/skills/digest.ts";
import { diskTree } from "../contract/disk-tree.ts";

const still = (): ReturnType<Parameters<typeof diskTree>[0]> => ({
  add: () => undefined,
  remove: () => undefined,
  close: () => Promise.resolve(),
});

describe("digestSkill", () => {
  it("depends on the path and content of regular files, and on nothing else", async () => {
    const tree = diskTree(still);
    const digest = (): Promise<string> => digestSkill(`${tree.root}/a`);
    tree.write("a/SKILL.md", "x");
    tree.write("a/scripts/run.py", "y");
    const first = await digest();
    expect(first).toMatch(/^[0-9a-f]{64}$/);

    tree.write("a/.git/HEAD", "z");
    tree.write("a/node_modules/m/index.js", "z");
    tree.write("a/inner/SKILL.md", "z");
    tree.write("a/inner/scripts/z", "z");
    tree.makeDirectory("a/empty");
    tree.link("a/link", "SKILL.md");
    expect(await digest()).toBe(first);

    tree.rename("a", "b");
    expect(await digestSkill(`${tree.root}/b`)).toBe(first);
    tree.rename("b", "a");

    const seen = new Set([first]);
    for (const change of [
      () => tree.write("a/SKILL.md", "xx"),
      () => tree.rename("a/scripts/run.py", "a/scripts/go.py"),
      () => tree.write("a/scripts/.hidden", ""),
      () => tree.remove("a/scripts"),
    ]) {
      change();
      seen.add(await digest());
    }
    expect(seen.size).toBe(5);
    await tree.close();
  });

  it("is the documented one", async () => {
    const tree = diskTree(still);
    tree.write("a/SKILL.md", "hello");
    expect(await digestSkill(`${tree.root}/a`)).toBe(
      "898f39b5610fe57ce4b2377af9be0ff3a8cb55886c694271435a02e74401e62c",
    );
    await tree.close();
  });

  it("can be stopped, and fails where there is nothing", async () => {
    const tree = diskTree(still);
    tree.write("a/SKILL.md", "x");
    await expect(digestSkill(`${tree.root}/a`, { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    await expect(digestSkill(`${tree.root}/missing`)).rejects.toThrow("ENOENT");
    await tree.close();
  });
});
