import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const agent = `
import { openSkills } from "acp-skills";
const told = [];
const skills = await openSkills({ defaultRoots: false, dataDirectory: process.argv[2], log: (_level, text) => told.push(text) });
const code = "def main():\\n    return 42\\n";
const result = await skills.call("run_code", { language: "python", code }).catch(({ message }) => ({ message }));
await skills.close();
console.log(JSON.stringify({ result, told }));
`;

test("names the files that an agent bundled by esbuild needs, and runs code after they are copied", async () => {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-bundle-")));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const outfile = path.join(directory, "app/out/agent.mjs");
  await build({
    stdin: { contents: agent, resolveDir: root },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    // Some dependencies are CommonJS.
    banner: { js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire("/");' },
    external: ["pyodide", "deno", "@anthropic-ai/sandbox-runtime"],
    logLevel: "silent",
  });
  const run = async (): Promise<{ result: { message?: string; output?: unknown }; told: string[] }> => {
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, path.join(directory, "data")]);
    return JSON.parse(stdout) as Awaited<ReturnType<typeof run>>;
  };
  const { result, told } = await run();
  expect(told).toContainEqual(
    expect.stringMatching(/^Skills are read on the calling thread: dist\/acp\/service\/worker/),
  );
  const [, target] = /copy the contents of its dist\/runtime\/sandbox to (.+)\.$/.exec(result.message ?? "") ?? [];
  expect(target?.startsWith(directory)).toBe(true);
  cpSync(path.join(root, "dist/runtime/sandbox"), target ?? "", { recursive: true });
  const again = await run();
  expect(again.result.message ?? "").not.toContain("are missing");
  if (again.result.message === undefined) expect(again.result.output).toBe(42);
}, 60_000);
