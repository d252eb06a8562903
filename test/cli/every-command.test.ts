import { generateKeyPairSync } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import type { CommandName } from "../../src/cli/commands/commands.ts";
import { runCli, runProcess } from "./run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "./temporary-project.ts";

const project = useTemporaryProject();
beforeEach(() => {
  project.write("skills/greet/SKILL.md", skillText("greet"));
  project.write(".agents/skills/greet/SKILL.md", skillText("greet"));
  writeSecretAction(project);
  const { privateKey } = generateKeyPairSync("ed25519");
  project.write("key.pem", privateKey.export({ format: "pem", type: "pkcs8" }));
});

const skills = ["--skills", "skills", "--no-default-roots"];

/** One command line for each command that ends by itself. The others are processes in all of their tests. */
const lines: Record<
  Exclude<
    CommandName,
    | "wrap"
    | "proxy"
    | "eval"
    | "mcp"
    | "mcp-bridge"
    | "serve"
    | "cluster"
    | "worker"
    | "browse"
    | "doctor"
    | "conformance"
  >,
  readonly string[]
> = {
  list: skills,
  show: ["greet", ...skills],
  check: ["skills"],
  env: skills,
  run: ["key.use", ...skills],
  runs: ["list"],
  replay: ["run_0123456789abcdef", ...skills],
  discover: ["http://127.0.0.1:1"],
  find: ["greet", ...skills],
  install: ["greet", ...skills],
  setup: ["zed"],
  init: ["greet", "--directory", "skills"],
  completion: ["bash"],
  call: ["list_skills", ...skills],
  tools: ["--format", "openai"],
  approvals: ["list"],
  blobs: ["list"],
  policy: ["check"],
  ledger: [],
  licenses: skills,
  sign: ["skills/greet", "--key", "key.pem"],
  add: ["http://127.0.0.1:1"],
  remove: ["greet"],
  update: [],
  outdated: [],
  publish: ["oci://127.0.0.1:1/greet", "skills/greet"],
  verify: [],
  complete: ["--", "comp"],
};

test.each(Object.entries(lines))("%s does the same as a process", async (command, args) => {
  const here = await runCli([command, ...args], { cwd: project.directory });
  expect(await runProcess([command, ...args], { cwd: project.directory })).toEqual(here);
  expect(here.stdout + here.stderr).not.toBe("");
  // A command line that is refused would show only that it was parsed.
  expect(here.code, here.stderr).not.toBe(2);
});
