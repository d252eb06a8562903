import { memorySkillFiles } from "../../files/memory-skill-files.ts";
import { memoryWatcher } from "./memory-watcher.ts";
import { describeSkillWatcher } from "../../../contract/skill-watcher.ts";

describeSkillWatcher("memory", () => {
  const files = memorySkillFiles();
  const watchers: ReturnType<typeof memoryWatcher>[] = [];
  files.onTouch((directory, name) => {
    for (const watcher of watchers) watcher.touch(directory, name);
  });
  files.makeDirectory("/tree");
  return {
    root: "/tree",
    files,
    openWatcher(hint, degraded) {
      const watcher = memoryWatcher((target) => files.resolve(target));
      watchers.push(watcher);
      return watcher.open(hint, degraded);
    },
    write: (file, content) => files.write(`/tree/${file}`, content),
    makeDirectory: (directory) => files.makeDirectory(`/tree/${directory}`),
    remove: (target) => files.remove(`/tree/${target}`),
    rename: (from, to) => files.rename(`/tree/${from}`, `/tree/${to}`),
    link: (link, target) => files.link(`/tree/${link}`, target),
    close: () => Promise.resolve(),
  };
});
