import { chmodSync, watch } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openNativeWatcher, type WatchDirectory } from "../../../src/skills/skillset/native-watcher.ts";
import { memoryWatcher } from "./watch/memory-watcher.ts";
import { diskTree } from "../../contract/disk-tree.ts";
import { describeSkillWatcher } from "../../contract/skill-watcher.ts";

describeSkillWatcher("native", () => diskTree(openNativeWatcher));

describe("a native watcher without system watches", () => {
  const usedUp: WatchDirectory = () => {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };

  it("reports it once and watches the directories with the fallback until they are removed", async () => {
    const tree = diskTree(openNativeWatcher);
    const fallback = memoryWatcher();
    const messages: string[] = [];
    const hints: string[] = [];
    const watcher = openNativeWatcher(
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

  it("does not throw for a directory that is a file or has an invalid name", async () => {
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

describe("a native watcher", () => {
  function open({ refused = new Set<string>() }: { readonly refused?: ReadonlySet<string> } = {}) {
    const tree = diskTree(openNativeWatcher);
    const handles: string[] = [];
    const hints: string[] = [];
    const watchDirectory: WatchDirectory = (directory, options, listener) => {
      if (refused.has(path.basename(directory))) throw Object.assign(new Error("denied"), { code: "EACCES" });
      const handle = watch(directory, options, listener);
      handles.push(directory);
      handle.once("close", () => handles.splice(handles.indexOf(directory), 1));
      return handle;
    };
    const watcher = openNativeWatcher(
      (directory) => hints.push(directory),
      () => undefined,
      { watchDirectory },
    );
    return { tree, handles, hints, watcher };
  }
  /** A handle emits `close` asynchronously. */
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("opens one watch for each directory and for each of their ancestors", async () => {
    const { tree, handles, watcher } = open();
    const skills = Array.from({ length: 50 }, (_, index) => `${tree.root}/project/skills/s${index}`);
    for (const skill of skills) tree.makeDirectory(skill.slice(tree.root.length));
    watcher.add(`${tree.root}/project/skills`);
    for (const skill of skills) watcher.add(skill);
    const above = `${tree.root}/project`
      .split("/")
      .map((_name, index, all) => all.slice(0, index + 1).join("/") || "/");
    expect([...handles].sort()).toEqual([...above, `${tree.root}/project/skills`, ...skills].sort());
    for (const skill of [`${tree.root}/project/skills`, ...skills]) watcher.remove(skill);
    await turn();
    expect(handles).toEqual([]);
    await watcher.close();
    await tree.close();
  });

  it("watches a directory that becomes readable again and reports it, but not one that stays unreadable", async () => {
    const refused = new Set(["skills", "a"]);
    const { tree, handles, hints, watcher } = open({ refused });
    tree.makeDirectory("skills/a");
    const wanted = [`${tree.root}/skills`, `${tree.root}/skills/a`];
    for (const directory of [...wanted, ...wanted]) watcher.add(directory);
    expect(hints).toEqual([]);
    expect(handles).not.toContain(wanted[0]);
    refused.clear();
    for (const directory of wanted) watcher.add(directory);
    expect(handles).toEqual(expect.arrayContaining(wanted));
    expect(hints).toEqual(wanted);
    await watcher.close();
    await turn();
    expect(handles).toEqual([]);
    await tree.close();
  });

  it("watches a directory that becomes readable again with the fallback if no watches are left", async () => {
    const tree = diskTree(openNativeWatcher);
    const skills = `${tree.root}/skills`;
    const fallback = memoryWatcher();
    let code = "EACCES";
    const watchDirectory: WatchDirectory = (directory, options, listener) => {
      if (directory === skills) throw Object.assign(new Error("no watch"), { code });
      return watch(directory, options, listener);
    };
    const ignore = (): void => undefined;
    const watcher = openNativeWatcher(ignore, ignore, { watchDirectory, openFallback: fallback.open });
    tree.makeDirectory("skills");
    watcher.add(skills);
    expect([...fallback.watched]).toEqual([]);
    code = "ENOSPC";
    watcher.add(skills);
    expect([...fallback.watched]).toEqual([skills]);
    await watcher.close();
    await tree.close();
  });

  it("watches an ancestor of a path once it becomes accessible", async () => {
    const refused = new Set(["project"]);
    const { tree, handles, hints, watcher } = open({ refused });
    const project = `${tree.root}/project`;
    tree.makeDirectory("project");
    watcher.add(`${project}/skills`);
    expect(handles).not.toContain(project);
    refused.clear();
    chmodSync(project, 0o700);
    await expect.poll(() => handles).toContain(project);
    tree.makeDirectory("project/skills");
    await expect.poll(() => hints).toContain(`${project}/skills`);
    await watcher.close();
    await turn();
    expect(handles).toEqual([]);
    await tree.close();
  });

  it("keeps reporting a directory after its parent was removed from the watcher", async () => {
    const { tree, handles, hints, watcher } = open();
    tree.makeDirectory("skills/a");
    watcher.add(`${tree.root}/skills`);
    watcher.add(`${tree.root}/skills/a`);
    watcher.remove(`${tree.root}/skills`);
    await turn();
    hints.length = 0;
    tree.rename("skills", "gone");
    await expect.poll(() => hints).toContain(`${tree.root}/skills/a`);
    await watcher.close();
    await turn();
    expect(handles).toEqual([]);
    await tree.close();
  });
});
