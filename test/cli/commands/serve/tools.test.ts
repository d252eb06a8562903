import { expect, test } from "vitest";
import { toolDefinitions } from "../../../../src/runtime/tools.ts";
import { runCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

test.each(["mcp", "openai", "anthropic", "json-schema"] as const)(
  "acp-skills tools --format %s prints the tools' definitions",
  async (format) => {
    const { code, stdout, stderr } = await runCli(["tools", "--format", format], { cwd: project.directory });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(toolDefinitions(format));
  },
);

test("without --format, acp-skills tools prints the format of MCP", async () => {
  const { stdout } = await runCli(["tools"], { cwd: project.directory });
  expect(JSON.parse(stdout)).toEqual(toolDefinitions("mcp"));
});
