/** Adds entries to the lock of a project, one after the other. Arguments: the project, the start of their names, how many. */
import { changeLock } from "../../.build/sources/lock-file.js";
import { withEntry } from "../../.build/sources/lock.js";
import { projectScope } from "../../.build/sources/install-scope.js";

const [directory = "", name = "", count = ""] = process.argv.slice(2);
const place = projectScope(directory, directory, {});
for (let number = 0; number < Number(count); number++)
  await changeLock(place, `of-${name}`, (lock) =>
    withEntry(lock, `${name}-${number}`, { source: "a/b", sourceType: "github" }),
  );
