import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { leastNode, nodeFault } from "../../src/cli/node-version.ts";
import { runCli } from "./run-cli.ts";
import { useTemporaryProject } from "./temporary-project.ts";

const project = useTemporaryProject();

describe("the check of the Node version", () => {
  test("makes every command report an old Node in one line, before anything else is loaded", async () => {
    const preload = project.write("old.cjs", 'Object.defineProperty(process.versions, "node", { value: "18.20.8" });');
    for (const args of [["doctor"], ["mcp"], ["list"], ["--", "agent"], ["--version"]]) {
      const run = await runCli(args, { cwd: project.directory, env: { NODE_OPTIONS: `--require ${preload}` } });
      expect(run).toEqual({
        code: 1,
        stdout: "",
        stderr: "acp-skills: acp-skills needs Node 20.19 or newer; this is Node 18.20.8\n",
      });
    }
  });

  test("is the only import of the entry file, and has no imports itself", () => {
    const main = readFileSync(new URL("../../dist/cli/main.js", import.meta.url), "utf8");
    expect(main.match(/^import .*$/gm)).toEqual(['import { nodeFault } from "./node-version.js";']);
    const question = readFileSync(new URL("../../dist/cli/node-version.js", import.meta.url), "utf8");
    expect(question).not.toMatch(/^import /m);
  });

  test("requires the version in package.json", () => {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { engines } = JSON.parse(text) as { engines: { node: string } };
    expect(`>=${leastNode}`).toBe(`${engines.node}.0`);
    expect(["20.19.0", "20.20.1", "22.0.0", "24.1.0"].map(nodeFault)).toEqual(Array(4).fill(undefined));
    for (const version of ["18.20.8", "20.18.3", "16.0.0"]) expect(nodeFault(version)).toContain(version);
  });
});
