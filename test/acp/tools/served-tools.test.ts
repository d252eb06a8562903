import { expect, test } from "vitest";
import { servedTools } from "../../../src/acp/tools/served-tools.ts";
import { toolDefinitions } from "../../../src/tools/answers/tool-definitions.ts";

test("what is known of the tools without loading them is what they are", () => {
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
