import { expect, test } from "vitest";
import type { Snapshot } from "../../../src/skills/skill.ts";
import { viewSkills } from "../../../src/runtime/caller/skill-view.ts";
import { offer } from "../../acp/memory-skillset.ts";

test("ownDirectories includes roots without skills and excludes a project's skills", () => {
  const own = { ...offer("own", { directory: "/home/skills/own" }), sources: ["/home/skills"], isOwn: true } as const;
  const ofProject = { ...offer("theirs", { directory: "/work/skills/theirs" }), sources: ["/work/skills"] };
  const snapshot: Snapshot = { skills: [own, ofProject], problems: [], ownRoots: ["/empty"] };
  expect(viewSkills(snapshot, undefined).ownDirectories()).toEqual(["/empty", "/home/skills", "/home/skills/own"]);
});
