import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { computedHash, fileDigests, lockDifferenceOf } from "../../../src/sources/lock.ts";
import { readInstalled } from "../../../src/sources/lock/read-installed.ts";
import { type DirectoryIdentity, directoryIdentityOf } from "../../../src/base/paths/identity.ts";
import { type Staging, openStaging as openRecorded, reopenStaging } from "../../../src/sources/lock/staging.ts";
import { useTemporaryProject } from "../../cli/temporary-project.ts";

const project = useTemporaryProject();
const file = (name: string, text: string, executable = false) => ({ path: name, bytes: Buffer.from(text), executable });
const skill = [file("SKILL.md", "new"), file("scripts/run.sh", "run", true)];
const hidden = (): string[] => readdirSync(project.at(".agents")).filter((name) => name.startsWith(".acp-skills-"));

function openStaging(skills: string, id = "of-a-test"): Staging {
  return openRecorded(skills, { id, noteStaging: () => undefined, drop: () => undefined });
}

function skillsDirectory(): string {
  mkdirSync(project.at(".agents", "skills"), { recursive: true });
  return project.at(".agents", "skills");
}

test("a skill appears with its modes when it is swapped in, and nothing else stays behind", () => {
  const skills = skillsDirectory();
  const staging = openStaging(skills);
  staging.write("a", skill);
  expect(readdirSync(skills)).toEqual([]);
  expect(staging.swap("a", (before) => before === undefined)).toBeDefined();
  staging.close();
  expect(readFileSync(project.at(".agents/skills/a/SKILL.md"), "utf8")).toBe("new");
  expect(statSync(project.at(".agents/skills/a/scripts/run.sh")).mode & 0o100).toBe(0o100);
  expect(statSync(project.at(".agents/skills/a/SKILL.md")).mode & 0o111).toBe(0);
  expect(hidden()).toEqual([]);
});

test("a skill that changed while the person was asked stays as it is", () => {
  project.write(".agents/skills/a/SKILL.md", "edited");
  const staging = openStaging(skillsDirectory());
  staging.write("a", skill);
  const swapped = staging.swap(
    "a",
    (before) => before?.files.some(({ bytes }) => Buffer.from(bytes).toString() === "old") ?? false,
  );
  staging.close();
  expect(swapped).toBeUndefined();
  expect(readFileSync(project.at(".agents/skills/a/SKILL.md"), "utf8")).toBe("edited");
});

test("a swap can be undone, as when the lock cannot be written", () => {
  project.write(".agents/skills/a/SKILL.md", "old");
  const staging = openStaging(skillsDirectory());
  staging.write("a", skill);
  staging.swap("a", () => true)?.();
  staging.close();
  expect(readFileSync(project.at(".agents/skills/a/SKILL.md"), "utf8")).toBe("old");
  expect(existsSync(project.at(".agents/skills/a/scripts"))).toBe(false);
});

test("what a killed process staged is opened again by its identity only, and never through a link", () => {
  const skills = skillsDirectory();
  project.write("elsewhere/old/a/SKILL.md", "keep");
  let staging: DirectoryIdentity | undefined;
  const record = { id: "x", noteStaging: (noted: DirectoryIdentity) => void (staging = noted), drop: () => undefined };
  openRecorded(skills, record).write("a", skill);
  expect(reopenStaging(skills, { id: "none", staging })).toBeUndefined();
  symlinkSync(project.at("elsewhere"), project.at(".agents", ".acp-skills-link"));
  expect(reopenStaging(skills, { id: "link", staging: directoryIdentityOf(project.at("elsewhere")) })).toBe("foreign");
  mkdirSync(project.at(".agents", ".acp-skills-other", "old"), { recursive: true });
  for (const one of [staging, undefined]) expect(reopenStaging(skills, { id: "other", staging: one })).toBe("foreign");
  const left = reopenStaging(skills, { id: "x", staging });
  if (typeof left !== "object") throw new Error("not ours");
  expect(left.has("a")).toEqual({ here: false, new: true, old: false });
  left.close();
  expect(hidden()).toEqual([".acp-skills-link", ".acp-skills-other"]);
  expect(readFileSync(project.at("elsewhere/old/a/SKILL.md"), "utf8")).toBe("keep");
});

test("a link in the place of a skill is put aside and removed, not followed", () => {
  const skills = skillsDirectory();
  project.write("elsewhere/keep.txt", "keep");
  symlinkSync(project.at("elsewhere"), path.join(skills, "a"));
  expect(readInstalled(skills, "a")).toEqual({ files: [], others: ["."] });
  const staging = openStaging(skills);
  staging.write("a", skill);
  staging.swap("a", () => true);
  staging.close();
  expect(readFileSync(project.at("elsewhere/keep.txt"), "utf8")).toBe("keep");
  expect(statSync(path.join(skills, "a")).isDirectory()).toBe(true);
});

test("an installed skill is compared file by file, and links in it are named", () => {
  const skills = skillsDirectory();
  const entry = {
    source: "s",
    sourceType: "well-known",
    computedHash: computedHash(skill),
    files: fileDigests(skill) ?? {},
  };
  project.write(".agents/skills/a/SKILL.md", "new");
  project.write(".agents/skills/a/scripts/run.sh", "run");
  const read = () => readInstalled(skills, "a") ?? { files: [], others: [] };
  expect(lockDifferenceOf(entry, read(), undefined)).toBeUndefined();
  project.write(".agents/skills/a/SKILL.md", "edited");
  project.write(".agents/skills/a/more.md", "more");
  symlinkSync("/etc/passwd", project.at(".agents/skills/a/link"));
  expect(lockDifferenceOf({ ...entry, digest: `sha256:${"a".repeat(64)}` }, read(), "sha256:b")).toEqual({
    missing: [],
    changed: ["SKILL.md"],
    added: ["link", "more.md"],
    hashes: ["digest", "computedHash"],
  });
});
