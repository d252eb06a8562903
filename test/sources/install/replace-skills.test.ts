import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { replaceSkills } from "../../../src/sources/install/replace-skills.ts";
import { recordNames } from "../../../src/sources/lock/change-record.ts";
import { openStaging } from "../../../src/sources/lock/staging.ts";
import { emptyLock } from "../../../src/sources/lock.ts";
import { useTemporaryProject } from "../../cli/temporary-project.ts";
import { placeIn, replacementOf } from "./installed-skills.js";

const project = useTemporaryProject();

test("an install that failed and left everything as it was is not recorded as interrupted", async () => {
  const mine = project.write("project/.agents/skills/skill-1/SKILL.md", "mine");
  const place = placeIn(project.directory);
  const replacing = replaceSkills(place, emptyLock("project"), [replacementOf("skill-1", 1, 0)]);
  await expect(replacing).rejects.toThrow("changed meanwhile; it is as it was");
  expect(readFileSync(mine, "utf8")).toBe("mine");
  expect(recordNames(place.records)).toEqual([]);
  expect(readdirSync(project.at("project/.agents"))).toEqual(["skills"]);
});

test("what could not be put back stays for the next command", () => {
  project.write(".agents/skills/a/SKILL.md", "mine");
  const staging = openStaging(project.at(".agents/skills"), {
    id: "x",
    noteStaging: () => undefined,
    drop: () => undefined,
  });
  const taken = project.at(".agents/skills/a");
  const refuse = (): boolean => {
    // Somebody else puts a file there meanwhile.
    writeFileSync(taken, "other");
    return false;
  };
  expect(() => staging.swap("a", refuse)).toThrow();
  expect(() => staging.close()).toThrow("could not be put back");
  expect(readFileSync(project.at(".agents/.acp-skills-x/old/a/SKILL.md"), "utf8")).toBe("mine");
});
