import { memorySkillFiles } from "../../../src/skills/files/memory-skill-files.ts";
import { memorySkillBytes } from "../../../src/skills/files/memory-skill-bytes.ts";
import { describeSkillBytes } from "../../contract/skill-bytes.ts";

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
