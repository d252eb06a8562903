import { expect, test } from "vitest";
import { describeSkillText } from "../../../src/skills/document.ts";

test.each([
  [
    "---\nname: a\ndescription: B.\nmetadata:\n  version: 1.2.0\n---\n",
    { name: "a", description: "B.", version: "1.2.0" },
  ],
  ["---\nname: [a]\n---\n", {}],
  ["no frontmatter", {}],
])("describes %j by its frontmatter", (text, expected) => {
  expect(describeSkillText(text)).toEqual(expected);
});
