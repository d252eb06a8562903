import { expect, it } from "vitest";
import { memorySkillBytes, memorySkillFiles } from "./memory-skill-files.ts";
import { describeSkillBytes } from "../../contract/skill-bytes.ts";
import { describeSkillFiles } from "../../contract/skill-files.ts";

describeSkillFiles("memory", () => {
  const files = memorySkillFiles();
  return {
    root: "/tree",
    files,
    write: (file, content) => files.write(`/tree/${file}`, content),
    makeDirectory: (directory) => files.makeDirectory(`/tree/${directory}`),
    link: (link, target) => files.link(`/tree/${link}`, target),
    makeOther: (file) => files.makeOther(`/tree/${file}`),
    close: () => undefined,
  };
});

it("reports each change once, in the real directory, as a file watch does", () => {
  const files = memorySkillFiles({ "/s/a/SKILL.md": "x" });
  files.link("/t", "/s");
  const touched: string[] = [];
  files.onTouch((directory, name) => touched.push(`${directory}|${name}`));
  files.write("/t/a/SKILL.md", "y");
  files.rename("/s/a", "/s/b");
  files.remove("/t/b/SKILL.md");
  expect(touched).toEqual(["/s/a|SKILL.md", "/s|a", "/s|b", "/s/b|SKILL.md"]);
  expect(files.list("/t/b")).toEqual([]);
  expect(files.resolve("/s/a")).toBeUndefined();
});

it("removing a symlink keeps its target", () => {
  const files = memorySkillFiles({ "/real/SKILL.md": "x" });
  files.link("/s/a", "/real");
  files.remove("/s/a");
  expect(files.list("/s")).toEqual([]);
  expect(files.list("/real")).toHaveLength(1);
});

describeSkillBytes("memory", () => {
  const files = memorySkillFiles();
  files.makeDirectory("/root");
  return {
    root: "/root",
    bytes: memorySkillBytes(files),
    write: (file, content) => files.write(`/root/${file}`, content),
    makeDirectory: (directory) => files.makeDirectory(`/root/${directory}`),
    link: (link, target) => files.link(`/root/${link}`, target),
    makeOther: (file) => files.makeOther(`/root/${file}`),
    grow: () => undefined,
    close: () => undefined,
  };
});
