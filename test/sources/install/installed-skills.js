import path from "node:path";
import { computedHash } from "../../../.build/sources/lock.js";
import { projectScope } from "../../../.build/sources/install-scope.js";

/** The place of skills of `DIRECTORY/project`; records are in `DIRECTORY/data`. @param {string} directory */
export function placeIn(directory) {
  return projectScope(path.join(directory, "project"), directory, { ACP_SKILLS_HOME: path.join(directory, "data") });
}

/** @param {string} name @param {number} version */
function filesOf(name, version) {
  const text = `---\nname: ${name}\ndescription: Version ${version}.\n---\n`;
  return [
    { path: "SKILL.md", bytes: Buffer.from(text), executable: false },
    { path: "scripts/run.sh", bytes: Buffer.from(`echo ${version}\n`), executable: true },
  ];
}

/** A version of a skill, in the place of another one; 0 is none. @param {string} name @param {number} version @param {number} before */
export function replacementOf(name, version, before) {
  const files = filesOf(name, version);
  const entry = {
    source: "example.com",
    sourceType: "well-known",
    computedHash: computedHash(files),
    version: `${version}.0.0`,
  };
  return { key: name, files, entry, seen: before === 0 ? undefined : { files: filesOf(name, before), others: [] } };
}
