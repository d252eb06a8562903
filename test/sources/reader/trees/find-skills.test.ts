import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type FileTree,
  archiveTree,
  findSkills,
  isSkill,
  skillChildren,
} from "../../../../src/sources/reader/trees/file-tree.ts";

function treeOf(...directories: readonly string[]): FileTree {
  const bytes = new Uint8Array();
  const paths = directories.map((directory) => (directory === "" ? "SKILL.md" : `${directory}/SKILL.md`));
  return archiveTree({
    files: paths.map((path) => ({ path, bytes, executable: false })),
    links: [{ path: "linked/SKILL.md", target: "../SKILL.md" }],
    unusable: [],
  });
}

test.each([
  [
    ["skills/a", ".claude/skills/b", ".agents/skills/c", "docs/d", ""],
    "",
    [".agents/skills/c", ".claude/skills/b", "skills/a"],
  ],
  [["skills/.curated/a", "skills/group/b"], "", ["skills/.curated/a", "skills/group/b"]],
  [["", "examples/a"], "", [""]],
  [["x/y/a", "b", "node_modules/c", ".git/d"], "", ["b", "x/y/a"]],
  [["a", "a/inner", "ab"], "", ["a", "ab"]],
  [["p/skills/a", "q/skills/b", "pq/c"], "p", ["p/skills/a"]],
  [["p", "p/x"], "p", ["p"]],
  [["one/two"], "absent", []],
  [[Array.from({ length: 13 }, () => "d").join("/")], "", []],
])("of skills in %j, below %j, takes %j", (directories, start, found) => {
  expect(findSkills(treeOf(...directories), start)).toEqual(found);
});

test("a SKILL.md that is a symlink makes no skill", () => {
  expect(isSkill(treeOf(), "linked")).toBe(false);
  expect(findSkills(treeOf())).toEqual([]);
});

test("children are immediate", () => {
  expect(skillChildren(treeOf("skills/a", "skills/b/c", "skills", "a"), "skills")).toEqual(["skills/a"]);
  expect(skillChildren(treeOf("a", "b/c"), "")).toEqual(["a"]);
});

test("whatever the tree, what is found are skills, and none is inside another", () => {
  const name = fc.constantFrom("skills", ".claude", "a", "b", "a-b");
  const directory = fc.array(name, { maxLength: 5 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(fc.array(directory, { maxLength: 12 }), directory, (directories, start) => {
      const tree = treeOf(...new Set(directories));
      const found = findSkills(tree, start);
      expect(found.every((one) => isSkill(tree, one))).toBe(true);
      for (const one of found)
        for (const other of found) expect(one !== other && one.startsWith(`${other}/`)).toBe(false);
    }),
  );
});
