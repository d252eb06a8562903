import { expect, test } from "vitest";
import { type Plugin, pluginSkills } from "../../../../src/sources/reader/marketplaces/plugin-tree.ts";
import { type FileTree, archiveTree } from "../../../../src/sources/reader/trees/file-tree.ts";

function treeOf(...paths: string[]): FileTree {
  const bytes = new Uint8Array();
  return archiveTree({ files: paths.map((path) => ({ path, bytes, executable: false })), links: [], unusable: [] });
}

function entry(skills: readonly string[], isStrict = true): NonNullable<Plugin["entry"]> {
  return { name: "p", skills, isStrict };
}

const shared = treeOf("skills/xlsx/SKILL.md", "skills/docx/SKILL.md", "skills/art/SKILL.md", "README.md");

test("an entry at the marketplace's root that lists directories has only these", () => {
  const plugin = { entry: entry(["./skills/xlsx", "./skills/docx"], false), root: "", isShared: true };
  expect(pluginSkills(shared, plugin)).toEqual({ directories: ["skills/xlsx", "skills/docx"], problems: [] });
});

test("an entry at the root without a list has all", () => {
  expect(pluginSkills(shared, { entry: entry([]), root: "", isShared: true }).directories).toHaveLength(3);
});

test("a plugin has what it declares beside its skills directory, one level deep", () => {
  const tree = treeOf(
    "p/skills/a/SKILL.md",
    "p/skills/deep/er/SKILL.md",
    "p/extra/b/SKILL.md",
    "p/one/SKILL.md",
    "p/other/SKILL.md",
  );
  const manifest = { skills: ["./extra", "./one/"], ignored: [] };
  expect(pluginSkills(tree, { entry: entry([]), manifest, root: "p", isShared: false })).toEqual({
    directories: ["p/extra/b", "p/one", "p/skills/a"],
    problems: [],
  });
});

test("a plugin that is itself a skill is one skill", () => {
  const tree = treeOf("p/SKILL.md", "p/reference.md");
  expect(pluginSkills(tree, { entry: entry([]), root: "p", isShared: false }).directories).toEqual(["p"]);
  expect(pluginSkills(tree, { entry: entry(["./"]), root: "p", isShared: false }).directories).toEqual(["p"]);
});

test("a listed path that leaves the plugin or holds nothing is reported", () => {
  const { directories, problems } = pluginSkills(shared, {
    entry: entry(["../x", "/etc", "./none"]),
    root: "",
    isShared: true,
  });
  expect(directories).toEqual([]);
  expect(problems).toHaveLength(3);
});

test("where strict is false, the entry's skills win over those of the manifest, which is said", () => {
  const tree = treeOf("p/a/SKILL.md", "p/b/SKILL.md");
  const plugin = {
    entry: entry(["./a"], false),
    manifest: { skills: ["./b"], ignored: [] },
    root: "p",
    isShared: false,
  };
  expect(pluginSkills(tree, plugin)).toEqual({
    directories: ["p/a"],
    problems: ["The plugin p and its entry both list skills; those of the entry are taken."],
  });
  const strict = { ...plugin, entry: entry(["./a"]) };
  expect(pluginSkills(tree, strict).directories).toEqual(["p/a", "p/b"]);
});
