import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";
import { descriptorOf, sharingIndex, usePublisher } from "./publisher.ts";

const project = useTemporaryProject();
const publisher = usePublisher();

async function discover(...args: readonly string[]): Promise<CliRun> {
  return await runCli(["discover", ...args], { cwd: project.directory });
}

function publish(): void {
  publisher.pages = {
    "/.well-known/skill-sharing": sharingIndex({ translate: "api", rows: "knowledge", sign: "api", gone: "task" }),
    "/skills/translate/descriptor.json": descriptorOf("translate", "api"),
    "/skills/rows/descriptor.json": descriptorOf("rows", "knowledge"),
    "/skills/sign/descriptor.json": descriptorOf("sign", "api", { auth: { type: "custom" } }),
  };
}

test("what a source offers is a table that says what could be done with it", async () => {
  publish();
  const { code, stdout, stderr } = await discover(publisher.url);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAME", "VERSION", "TYPE", "ACCESS", "USE", "DESCRIPTION"],
    ["gone", "1.2.0", "task", "public", "cannot", `${publisher.url}/skills/gone/descriptor.json answered 404`],
    ["rows", "1.2.0", "knowledge", "public", "install", "Does it."],
    ["sign", "1.2.0", "api", "public", "cannot", expect.stringContaining("custom")],
    ["translate", "1.2.0", "api", "public", "invoke", "Does it."],
    [""],
  ]);
  expect(stderr).toBe(
    `acp-skills: gone: ${publisher.url}/skills/gone/descriptor.json answered 404\n` +
      `acp-skills: 4 skills at ${publisher.url}/ (skill-sharing): 1 to install, 1 to invoke, 2 cannot be used\n`,
  );
  expect(code).toBe(0);
});

test("--type lists the skills of one type, and --json prints them", async () => {
  publish();
  const { code, stdout } = await discover(publisher.url, "--type", "knowledge", "--json");
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    source: `${publisher.url}/`,
    form: "skill-sharing",
    skills: [
      {
        name: "rows",
        version: "1.2.0",
        id: "com.example.rows-v1",
        type: "knowledge",
        access: "public",
        description: "Does it.",
        use: "install",
      },
    ],
    problems: [],
    partial: false,
  });
  expect(code).toBe(0);
});

test("texts of others cannot command the terminal", async () => {
  publisher.pages = { "/.well-known/skill-sharing": sharingIndex({ a: "api" }, "Red \u001b[31m\u202e::error::") };
  const { stdout, stderr } = await discover(publisher.url);
  expect(stdout + stderr).not.toMatch(/[\u001b\u202e]/);
});

test("something that may be there but cannot be read now exits with 3, beside what is there", async () => {
  publish();
  publisher.pages["/skills/rows/descriptor.json"] = 503;
  const { code, stdout, stderr } = await discover(publisher.url);
  expect(stdout).toMatch(/^rows .*unknown +its descriptor was not read$/m);
  expect(stderr).toContain("rows/descriptor.json answered 503");
  expect(code).toBe(3);
});

test("where nothing is, each address and its answer is named", async () => {
  const { code, stdout, stderr } = await discover(publisher.url);
  expect(stdout).toBe("");
  expect(stderr).toContain(`${publisher.url}/.well-known/skill-sharing answered 404; `);
  expect(stderr).toContain(`${publisher.url}/marketplace.json answered 404`);
  expect(code).toBe(3);
});

test.each([
  [
    [],
    "0 skills at",
    "what is private there is not listed: give a token with --token env:NAME, or ask its publisher for the URL of a share (/s/TOKEN/)",
  ],
  [["--type", "task"], "0 skills of type task at", "without --type, all are listed"],
])("an index that lists nothing for %j exits with 1, and says what to do", async (args, what, hint) => {
  publisher.pages = { "/.well-known/skill-sharing": sharingIndex(args.length === 0 ? {} : { translate: "api" }) };
  const { code, stdout, stderr } = await discover(publisher.url, ...args);
  expect(stdout).toBe("");
  expect(stderr).toBe(`acp-skills: ${what} ${publisher.url}/ (skill-sharing); ${hint}\n`);
  expect(code).toBe(1);
});

test("the token of a share is not printed", async () => {
  const token = "hunter2hunter2hunter2hunter2";
  publisher.pages = { [`/s/${token}/.well-known/skill-sharing`]: sharingIndex({ a: "api" }) };
  for (const args of [[], ["--json"]]) {
    const { stdout, stderr } = await discover(`${publisher.url}/s/${token}/`, ...args);
    expect(stdout).toMatch(/^a |"name": "a"/m);
    expect(stdout + stderr).not.toContain(token);
  }
  expect((await discover(`${publisher.url}/s/${token}x/`)).stderr).not.toContain(token);
});

test.each([
  [["rows"], "not a source: it has neither a dot nor a slash, nor a prefix; expected a domain"],
  [["https://me:hunter2@example.com"], "user information"],
  [["example.com", "--type", "agent"], "--type"],
  [["example.com", "--allow-private", "a b"], "--allow-private"],
  [[], "SOURCE"],
])("%j is a usage error", async (args, why) => {
  const { code, stderr } = await discover(...args);
  expect(stderr).toContain(why);
  expect(stderr).not.toContain("hunter2");
  expect(code).toBe(2);
});

test("a private address is refused, with the option that allows it", async () => {
  const { code, stderr } = await discover("10.0.0.1");
  expect(stderr).toBe(
    "acp-skills: https://10.0.0.1/ cannot be read: 10.0.0.1 is a private address; if you trust it,\n  allow it with --allow-private 10.0.0.1\n",
  );
  expect(code).toBe(3);
});
