import { expect, test } from "vitest";
import { servedTools } from "../../src/tools/tool-names.ts";
import { toolDefinitions } from "../../src/tools/answers/tool-definitions.ts";

test("the table of tool names agrees with the tools", () => {
  const loaded = toolDefinitions("mcp").map(({ name, title, annotations, inputSchema }) => [
    name,
    { title, readOnly: annotations.readOnlyHint, parameters: Object.keys(inputSchema.properties).sort() },
  ]);
  const known = [...servedTools].map(([name, { title, readOnly, parameters }]) => [
    name,
    { title, readOnly, parameters: [...parameters].sort() },
  ]);
  expect(known).toEqual(loaded);
});
