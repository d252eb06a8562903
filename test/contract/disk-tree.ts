import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { diskSkillFiles } from "../../src/skills/files/disk-skill-files.ts";
import type { OpenSkillWatcher } from "../../src/skills/skillset/watch.ts";
import type { WatchedTree } from "./skill-watcher.ts";

/** A tree in a new temporary directory. */
export function diskTree(openWatcher: OpenSkillWatcher): WatchedTree {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-watch-")));
  const at = (target: string): string => path.join(root, target);
  return {
    root,
    files: diskSkillFiles(),
    openWatcher,
    write(file, content) {
      mkdirSync(path.dirname(at(file)), { recursive: true });
      writeFileSync(at(file), content);
    },
    makeDirectory: (directory) => void mkdirSync(at(directory), { recursive: true }),
    remove: (target) => rmSync(at(target), { recursive: true, force: true }),
    rename: (from, to) => renameSync(at(from), at(to)),
    link: (link, target) => symlinkSync(target, at(link)),
    close() {
      rmSync(root, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}
