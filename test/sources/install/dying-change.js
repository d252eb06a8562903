/**
 * Changes installed skills as `add`, `update` and `remove` do, and dies at its n-th change of the file system.
 * Arguments: a project, n, the number of skills, what to do with each: `add`, `update` or `remove`.
 */
import fs from "node:fs";
import { dieAtChange } from "../../base/processes/die-at-change.js";

const [directory = "", last = "", count = "", what = ""] = process.argv.slice(2);
// What a killed process wrote is there without it.
fs.fsyncSync = () => undefined;
await dieAtChange(Number(last));

const { removeSkills, replaceSkills } = await import("../../../.build/sources/install/replace-skills.js");
const { readLock } = await import("../../../.build/sources/lock-file.js");
const { placeIn, replacementOf } = await import("./installed-skills.js");

const place = placeIn(directory);
const version = what === "add" ? 1 : 2;
const changes = Array.from({ length: Number(count) }, (_, index) =>
  replacementOf(`skill-${index + 1}`, version, what === "add" ? 0 : 1),
);
if (what === "remove") await removeSkills(place, readLock(place), changes);
else await replaceSkills(place, readLock(place), changes);
