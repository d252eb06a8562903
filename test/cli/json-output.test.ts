import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Command } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands/commands.ts";
import { openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { addMember, addRun } from "../cluster/admin/busy-cluster.ts";
import { clusterFault } from "../cluster/modern-node.ts";
import { startPostgres } from "../cluster/postgres.ts";
import { openFakeRegistry } from "../sources/source/kinds/oci/fake-registry.ts";
import { usePublisher } from "./commands/sources/publish-skills.ts";
import { runCli } from "./run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "./temporary-project.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();

/** The published schema allows fields that it does not name; here each must be named. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const fields = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return "properties" in schema ? { additionalProperties: false, ...fields } : fields;
}

const schema = closed(JSON.parse(readFileSync(new URL("../../schema/output.json", import.meta.url), "utf8"))) as {
  readonly $defs: Readonly<Record<string, unknown>>;
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).addSchema(schema, "output");

/** What was compared with its schema. */
const compared = new Set<string>();

/** Runs a command and returns what it printed, which has the form of `schema/output.json#/$defs/NAME`. */
async function printed(
  name: string,
  line: string | readonly string[],
  {
    stream = "stdout",
    cwd = project.directory,
    env = {},
  }: { stream?: "stdout" | "stderr"; cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const args = typeof line === "string" ? line.split(" ") : line;
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const run = await runCli([...args.slice(0, end), "--json", ...args.slice(end)], { cwd, env });
  const value = JSON.parse(run[stream]) as Readonly<Record<string, unknown>>;
  ajv.validate(`output#/$defs/${name}`, value);
  expect
    .soft(
      (ajv.errors ?? []).map(({ instancePath, message, params }) => [instancePath, message, params]),
      args.join(" "),
    )
    .toEqual([]);
  expect(Object.keys(value)[0]).toBe("schemaVersion");
  compared.add(name);
  return value;
}

const manifest = 'name = "a.b"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "action"\n';

function writeAction(): void {
  project.write("skills/a.b/SKILL.md", skillText("a.b"));
  project.write("skills/a.b/skill.toml", `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n`);
  project.write(
    "skills/a.b/main.py",
    "def main(args):\n    open('/output/a.txt', 'w').write('a')\n    return {'n': 1}\n",
  );
}

const only = "--skills skills --no-default-roots";

test("of sessions with and without a skill", async () => {
  project.write("skills/greet/SKILL.md", skillText("greet"));
  project.write("skills/greet/evals/evals.json", '[{ "prompt": "say hi", "assertions": [{ "pattern": "hi" }] }]');
  const agent = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));
  const line = ["eval", "skills/greet", "--runs", "1", "--", process.execPath, agent];
  expect(await printed("eval", line)).toMatchObject({
    skill: "greet",
    runs: [{ id: "1" }, { withSkill: false }],
    worse: null,
  });
});

test("of the skills of a directory", async () => {
  project.write(
    "skills/greet/SKILL.md",
    skillText("greet").replace("---\n\n", "license: MIT\ncompatibility: Requires git and a moon\n---\n\n"),
  );
  project.write("skills/broken/SKILL.md", "no frontmatter");
  project.write("skills/greet/LICENSE", "MIT");
  writeSecretAction(project);
  project.write(
    "acp-skills.policy.json",
    '{ "secrets": { "deny": ["*"] }, "licenses": { "deny": ["MIT"] }, "odd": 1 }',
  );
  expect(await printed("list", `list ${only}`)).toMatchObject({ skills: [{ name: "greet" }, { name: "key-use" }] });
  await printed("show", `show key.use ${only}`);
  expect(await printed("check", "check skills")).toMatchObject({ checked: 3, problems: [{ severity: "error" }] });
  await printed("check", "check skills --fix --reporter json");
  await printed("licenses", `licenses ${only}`);
  expect(await printed("env", `env ${only}`)).toMatchObject({ counts: { skills: 2 } });
  await printed("find", `find greet ${only}`);
  await printed("sign-key", "sign --generate-key key.pem");
  expect(await printed("sign", "sign skills/greet --key key.pem")).toMatchObject({ signature: { state: "signed" } });
  await printed("policy-check", "policy check");
  project.write("acp-skills.policy.json", '{ "secrets": { "deny": ["*"] } }');
  expect(await printed("policy-explain", `policy explain key.use ${only}`)).toMatchObject({ name: "key.use" });
  await printed("install", `install greet ${only}`);
  await printed("error", `run key.use ${only}`, { stream: "stderr" });
  await printed("error", ["call", "describe_skill", ...only.split(" ")], { stream: "stderr" });
  await printed("call", ["call", "list_skills", ...only.split(" ")]);
  await printed("tools", "tools");
  expect(await printed("init", "init new")).toMatchObject({ name: "new", files: ["SKILL.md"] });
});

test("of this machine, and of what editors start", async () => {
  await printed("doctor", "doctor");
  const zed = project.write(".config/zed/settings.json", '{ "agent_servers": { "mine": { "command": "agent" } } }');
  expect(await printed("setup", "setup zed")).toMatchObject({ files: [{ file: zed, changes: true, written: false }] });
  await printed("setup", "setup zed --write");
  await printed("setup", "setup zed --undo");
  await printed("setup", "setup obsidian");
}, 60_000);

test("of skills of others", async () => {
  const { origin, publish } = await openPublisher();
  const here = "--allow-private 127.0.0.1";
  await publish({
    alpha: { "SKILL.md": skillText("alpha"), "old.md": "old" },
    beta: { "SKILL.md": skillText("beta") },
  });
  expect(await printed("discover", `discover ${origin}`)).toMatchObject({
    skills: [{ name: "alpha" }, { name: "beta" }],
  });
  await printed("find", `find alpha --source ${origin} ${only}`);
  expect(await printed("add", `add ${origin}`)).toMatchObject({ skills: [], offered: ["alpha", "beta"] });
  await printed("add", `add ${origin} alpha --dry-run`);
  expect(await printed("add", `add ${origin} --all --yes`)).toMatchObject({ skills: [{ done: true }, { done: true }] });
  expect(await printed("add-locked", `add --yes ${here}`)).toMatchObject({
    skills: [{ state: "current" }, { state: "current" }],
  });
  expect(await printed("verify", "verify")).toMatchObject({ ok: true });
  project.write(".agents/skills/beta/SKILL.md", skillText("beta", "Changed."));
  project.write(".agents/skills/other/SKILL.md", skillText("other"));
  expect(await printed("verify", "verify")).toMatchObject({ ok: false, unlocked: ["other"] });
  await publish({ alpha: { "SKILL.md": skillText("alpha", "Is new.") }, beta: { "SKILL.md": skillText("beta") } });
  expect(await printed("outdated", `outdated ${here}`)).toMatchObject({
    skills: [{ state: "updated" }, { state: "current" }],
  });
  expect(await printed("update", `update --check ${here}`)).toMatchObject({ skills: [{ state: "available" }, {}] });
  await printed("update", `update --yes ${here}`);
  await publish({ alpha: { "SKILL.md": skillText("alpha", "Is new.") } });
  await printed("outdated", `outdated ${here}`);
  await printed("update", "update");
  expect(await printed("remove", "remove alpha gamma")).toMatchObject({ removed: [] });
  expect(await printed("remove", "remove alpha")).toMatchObject({ removed: ["alpha"], refused: [] });
  expect(await printed("ledger", "ledger")).toMatchObject({ uses: expect.arrayContaining([]) as unknown });
  await printed("ledger-verify", "ledger verify");
  const registry = await openFakeRegistry();
  project.write("skills/greet/SKILL.md", skillText("greet"));
  expect(await printed("publish", `publish oci://${registry.host}/greet skills/greet`)).toMatchObject({
    skills: [{ slug: "greet", published: true }],
  });
});

test("of approvals", async () => {
  writeSecretAction(project);
  expect(await printed("approvals-grant", `approvals grant key.use ${only}`)).toMatchObject({ allowed: true });
  await printed("approvals-grant", "approvals grant --project");
  await printed("approvals-block", `approvals block key.use ${only}`);
  expect(await printed("approvals-list", "approvals list")).toHaveProperty("approvals.1");
  await printed("approvals-show", `approvals show key.use ${only}`);
  const exported = await printed("approvals-export", "approvals export");
  project.write("exported.json", JSON.stringify(exported));
  expect(await printed("approvals-revoke", "approvals revoke key.use")).toHaveProperty("revoked.0");
  expect(await printed("approvals-import", "approvals import exported.json")).toMatchObject({ expired: 0 });
  project.write("acp-skills.policy.json", '{ "approvals": "none" }');
  expect(await printed("approvals-grant", `approvals grant key.use ${only}`)).toMatchObject({ allowed: false });
});

test("of runs and blobs", async () => {
  writeAction();
  await printed("run-dry-run", `run a.b --dry-run ${only}`);
  const { run_id: id } = await printed("run", `run a.b ${only}`);
  await printed("runs-list", "runs list");
  await printed("runs-show", `runs show ${String(id)}`);
  expect(await printed("replay", `replay ${String(id)} ${only}`)).toMatchObject({ same: true });
  project.write("skills/a.b/main.py", "def main():\n    raise ValueError('no')\n");
  expect(await printed("run", `run a.b ${only}`)).toMatchObject({ status: "failed" });
  const { blobs } = (await printed("blobs-list", "blobs list")) as { blobs: { id: string }[] };
  const [blob] = blobs;
  await printed("blobs-show", `blobs show ${blob?.id ?? ""}`);
  expect(await printed("blobs-read", `blobs read ${blob?.id ?? ""}`)).toMatchObject({ content: "a" });
  expect(await printed("blobs-rm", `blobs rm ${blob?.id ?? ""}`)).toEqual({ schemaVersion: 1, removed: [blob?.id] });
  await printed("blobs-sweep", "blobs sweep");
});

test("of a recorded conversation", async () => {
  const file = new URL("../../schema/conformance/turn-order/pass-wrapped-scripted-agent.ndjson", import.meta.url);
  project.write("recorded.ndjson", readFileSync(file));
  expect(await printed("conformance", "conformance --replay recorded.ndjson")).toMatchObject({ conformant: true });
});

const isWithoutCluster = clusterFault() !== undefined;

test.skipIf(isWithoutCluster)(
  "of a cluster",
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const env = { ACP_SKILLS_CLUSTER: await server.newDatabase() };
    const database = await openDatabase(parseClusterUrl(env.ACP_SKILLS_CLUSTER), {
      log: silentLog,
      clock: systemClock,
    });
    const worker = await addMember(database, "worker", { labels: ["gpu"] });
    await addRun(database, "run_a", { status: "running", worker, lease: -3 });
    await addRun(database, "run_b", { labels: ["gpu"] });
    await database.close();
    expect(await printed("cluster-status", "cluster status", { env })).toMatchObject({
      problems: [expect.stringContaining("run_a")],
    });
    expect(await printed("cluster-migrate", "cluster migrate", { env })).toMatchObject({ applied: ["job queue"] });
    expect(await printed("doctor", "doctor", { env })).toMatchObject({ cluster: { usable: true } });
  },
  60_000,
);

/** Parts of what is printed. */
const parts = [
  "approval",
  "capabilities",
  "counts",
  "problem",
  "run-result",
  "share",
  "signature",
  "signer",
  "spread",
  "stored-run",
];

afterAll(() => {
  // The demo has its own test, which compares what it prints.
  const isElsewhere = (name: string): boolean =>
    name === "cluster-demo" || (isWithoutCluster && name.startsWith("cluster-"));
  const names = Object.keys(schema.$defs).filter((name) => !parts.includes(name) && !isElsewhere(name));
  expect([...compared].sort()).toEqual(names.sort());
});

test("every command that has --json has a schema, and no other", async () => {
  const names = Object.keys(schema.$defs).map((name) => name.split("-")[0]);
  for (const [name, [, load]] of Object.entries(commands)) {
    const { command }: { command: Command } = await load();
    expect("json" in command.options, name).toBe(names.includes(name));
  }
});
