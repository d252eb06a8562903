import { describe, expect, it } from "vitest";
import { openNativeWatcher, openWatcher } from "../../src/skills/native-watcher.ts";
import type { WatchDirectory } from "../../src/skills/watch-handle.ts";
import { memoryWatcher } from "../../src/skills/memory-watcher.ts";
import { diskTree } from "../contract/disk-tree.ts";
import { describeSkillWatcher } from "../contract/skill-watcher.ts";

describeSkillWatcher("native", () => diskTree(openNativeWatcher));

describe("a native watcher without system watches", () => {
  const usedUp: WatchDirectory = () => {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };

  it("says so once, hands the directories to the fallback, and takes them back from it", async () => {
    const tree = diskTree(openNativeWatcher);
    const fallback = memoryWatcher();
    const messages: string[] = [];
    const hints: string[] = [];
    const watcher = openWatcher(
      (directory, name) => hints.push(`${directory} ${name ?? ""}`),
      (message) => messages.push(message),
      { watchDirectory: usedUp, openFallback: fallback.open },
    );
    tree.makeDirectory("a");
    tree.makeDirectory("b");
    watcher.add(`${tree.root}/a`);
    watcher.add(`${tree.root}/b`);
    expect(messages).toEqual([expect.stringContaining("no file watches left")]);
    expect([...fallback.watched]).toEqual([`${tree.root}/a`, `${tree.root}/b`]);
    fallback.touch(`${tree.root}/a`, "SKILL.md");
    expect(hints).toEqual([`${tree.root}/a SKILL.md`]);
    watcher.remove(`${tree.root}/a`);
    expect([...fallback.watched]).toEqual([`${tree.root}/b`]);
    await watcher.close();
    expect(fallback.isClosed).toBe(true);
    await tree.close();
  });

  it("never throws for a directory that is a file or has no readable name", async () => {
    const tree = diskTree(openNativeWatcher);
    tree.write("file", "x");
    const watcher = openNativeWatcher(
      () => undefined,
      () => undefined,
    );
    for (const odd of ["file", "file/below", "\ufffd", "x".repeat(300), "a\0b"]) {
      expect(() => watcher.add(`${tree.root}/${odd}`)).not.toThrow();
    }
    await watcher.close();
    await watcher.close();
    await tree.close();
  });
});
