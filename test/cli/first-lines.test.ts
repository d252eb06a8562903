import { beforeEach, expect, test } from "vitest";
import { errorLines } from "../../src/cli/report/safe-text.ts";
import { runCli } from "./run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "./temporary-project.ts";

const project = useTemporaryProject();
beforeEach(() => {
  project.write("skills/greet/SKILL.md", skillText("greet"));
  project.write("data.txt", "x");
  project.write("broken.json", "{");
  writeSecretAction(project);
});

const only = "--skills skills --no-default-roots";
const gone = "http://127.0.0.1:1";

/** Command lines that are refused, or whose work cannot be done. */
const lines = [
  "",
  "lst",
  "my-agent --acp",
  "--skills x list",
  "list --jsn",
  "list --skills",
  "list --skills --json",
  "list --skills absent",
  `list --source ${gone} ${only}`,
  "list --source ://x",
  `show gret ${only}`,
  "check absent",
  "check --fix",
  "check --rule x=off",
  "check --rule name-missing=x",
  "check --level x",
  "check --max-problems x",
  "licenses absent",
  "find !!!",
  "discover ftp://x",
  "discover acme",
  "discover http://10.0.0.1",
  `discover ${gone}`,
  `add ${gone}`,
  "add",
  `add ${gone} --token abc`,
  `add ${gone} --token env:NOPE`,
  "update greet",
  "remove greet",
  `run absent ${only}`,
  `run key.use ${only}`,
  `run greet ${only}`,
  `run greet ${only} --script nope.py`,
  "run greet --args {",
  "run greet --args @absent",
  "run greet --args @data.txt",
  "run greet --blob absent",
  "run greet --timeout soon",
  "run greet -- a",
  "run greet --isolation x",
  `run key.use ${only} --grant key.use:foo`,
  `replay run_0123456789abcdef ${only}`,
  "runs x",
  "runs show run_0123456789abcdef",
  "blobs",
  "blobs show blob:0",
  "approvals",
  "approvals x",
  "approvals show absent",
  `approvals grant key.use@abc ${only}`,
  `approvals grant key.use@${"0".repeat(64)} ${only}`,
  `approvals grant key.use --expires soon ${only}`,
  "approvals import absent",
  "approvals import data.txt",
  "policy x",
  `policy explain absent ${only}`,
  "ledger --since soon",
  "ledger verify --audit absent",
  "serve --port x",
  "serve --log-level x",
  "serve --audit absent/x",
  "serve --config absent",
  "serve --config broken.json",
  "browse --idle-minutes 0",
  "mcp --cwd absent",
  "mcp-bridge",
  "wrap",
  "--announce x -- cat",
  "tools --format x",
  "call list_skills {",
  "conformance",
  "conformance --replay absent",
  "conformance --replay data.txt",
  "conformance -- absent-agent",
  "conformance -- ./data.txt",
  "conformance --timeout x -- cat",
  "conformance --report absent/x -- cat",
  "init Bad_Name",
  "init a-b --action",
  "init greet --directory skills",
  "setup",
  "setup zedd",
  "setup zed",
  "setup zed --undo",
  "setup vscode",
  "setup obsidian --write",
  "completion bsh",
];

test.each(lines)("the first line of what acp-skills %s reports has at most 100 characters", async (line) => {
  const { code, stderr } = await runCli(line.split(" ").filter(Boolean), { cwd: project.directory });
  expect(code).not.toBe(0);
  // The directory of the test stands for a short one.
  const [first = ""] = stderr.replaceAll(project.directory, "/p").split("\n");
  expect(first.length, stderr).toBeLessThanOrEqual(100);
  expect(first).not.toBe("");
});

test("an error that is too long goes on below its first line, where a clause ends, and loses nothing", () => {
  const long =
    "The skill key.use needs approval to read the value of API_KEY. There is nobody to ask here. Approve it.";
  expect(errorLines(long)).toEqual([
    "The skill key.use needs approval to read the value of API_KEY.",
    "There is nobody to ask here. Approve it.",
  ]);
  expect(errorLines("Short. Two sentences.")).toEqual(["Short. Two sentences."]);
  expect(errorLines("x".repeat(200))).toEqual(["x".repeat(200)]);
  expect(errorLines(`${"word ".repeat(16)}(see acp-skills run --help)`)).toEqual([
    "word ".repeat(16).trim(),
    "(see acp-skills run --help)",
  ]);
});
