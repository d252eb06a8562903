import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { type CliRun, runCli, unfolded } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";
import { plain, pushArtifact, skillFiles, toolHive } from "../../../sources/source/kinds/oci/artifacts.ts";
import { openFakeRegistry } from "../../../sources/source/kinds/oci/fake-registry.ts";

const project = useTemporaryProject();

async function cli(...args: readonly string[]): Promise<CliRun> {
  const env = { CI: "", ADA_TOKEN: "s3cr3t", ACP_SKILLS_HOME: project.at("data") };
  const { stderr, ...run } = await runCli(args, { cwd: project.directory, env });
  return { ...run, stderr: unfolded(stderr).replaceAll("acp-skills: ", "") };
}

async function openRegistry() {
  const registry = await openFakeRegistry();
  const push = async (version: string, body = ""): Promise<string> =>
    await pushArtifact(`http://${registry.host}/v2/pdf`, "1", await toolHive("pdf", version, body));
  return { registry, push, source: `oci://${registry.host}/pdf:1`, here: ["--allow-private", registry.host] };
}

test("a source of a session is listed, also from its last good copy while the registry is down", async () => {
  const { registry, push, source } = await openRegistry();
  await push("1.0.0");
  const list = () => cli("list", "--source", source, "--no-default-roots");
  expect((await list()).stdout).toContain("pdf");
  registry.instead = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  expect((await list()).stdout).toContain("pdf");
});

test("skills of a registry are in outdated, update and verify like those of other sources", async () => {
  const { push, source, here } = await openRegistry();
  const first = await push("1.0.0");
  await cli("add", source, "--yes");
  expect((await cli("outdated", ...here)).stderr).toContain("no skill is outdated");
  const second = await push("1.1.0", "Changed.");
  expect((await cli("outdated", ...here)).stdout).toMatch(/pdf/);
  expect((await cli("update", "--yes", ...here)).stderr).toContain("updated pdf");
  const lock = readFileSync(project.at("skills-lock.json"), "utf8");
  expect(lock).toContain(second);
  expect(lock).not.toContain(first);
  expect((await cli("verify")).code).toBe(0);
});

test("a policy that denies the registry by its URL denies its skills", async () => {
  const { registry, push, source } = await openRegistry();
  await push("1.0.0");
  project.write("acp-skills.policy.json", JSON.stringify({ sources: { deny: [`http://${registry.host}/`] } }));
  const { code, stderr } = await cli("add", source, "--yes");
  expect(code).not.toBe(0);
  expect(stderr).toContain("denies");
  expect(existsSync(project.at(".agents/skills/pdf"))).toBe(false);
});

test("--token sends the token of a variable to the registry, and it is in no lock", async () => {
  const { registry, push, source } = await openRegistry();
  await push("1.0.0");
  const seen: (string | undefined)[] = [];
  registry.instead = ({ headers }, response) => {
    seen.push(headers.authorization);
    if (headers.authorization === "Bearer s3cr3t") return false;
    response.writeHead(401).end();
    return true;
  };
  const without = await cli("add", source, "--yes");
  expect([without.code, without.stderr]).toEqual([3, expect.stringContaining("needs credentials: docker login")]);
  seen.splice(0);
  expect(await cli("add", source, "--yes", "--token", "env:ADA_TOKEN")).toMatchObject({ code: 0 });
  expect(new Set(seen)).toEqual(new Set(["Bearer s3cr3t"]));
  expect(readFileSync(project.at("skills-lock.json"), "utf8")).not.toContain("s3cr3t");
});

test("several skills of one artifact are named or asked about, and restored together", async () => {
  const { registry, source, here } = await openRegistry();
  const names = Array.from({ length: 20 }, (_, index) => `skill-${index}`);
  const artifact = await plain(names.flatMap((name) => [...skillFiles(name, `skills/${name}`)]));
  await pushArtifact(`http://${registry.host}/v2/pdf`, "1", artifact);
  expect((await cli("add", source)).stderr).toContain("offers 20 skills: name those that you want, or add --all");
  expect((await cli("add", source, "--all", "--yes")).stderr).toContain("20 installed");
  rmSync(project.at(".agents"), { recursive: true });
  expect((await cli("add", "--yes", ...here)).stderr).toContain("20 installed, 0 there already, 0 not possible");
  expect((await cli("verify")).code).toBe(0);
});

test("an update that was killed half-way is finished by the next command, at the digest of the lock", async () => {
  const { push, source, here } = await openRegistry();
  await push("1.0.0");
  await cli("add", source, "--yes");
  const files = ["lock/change-record", "lock/staging", "lock-file", "install-scope"];
  const modules = files.map((file) => new URL(`../../../../.build/sources/${file}.js`, import.meta.url));
  const program = `
    const [{ createChangeRecord }, { openStaging }, { readLock }, { projectScope }] = await Promise.all(
      ${JSON.stringify(modules)}.map((module) => import(module)),
    );
    const place = projectScope(process.cwd(), ${JSON.stringify(project.directory)}, { ACP_SKILLS_HOME: ${JSON.stringify(project.at("data"))} });
    const before = readLock(place).entries.get("pdf");
    const skills = ${JSON.stringify(project.at(".agents", "skills"))};
    const changes = [{ key: "pdf", before, after: { ...before, pin: "sha256:0" } }];
    const staging = openStaging(skills, createChangeRecord(place, { skills, changes }));
    staging.write("pdf", [{ path: "SKILL.md", bytes: Buffer.from("half"), executable: false }]);
    staging.swap("pdf", () => process.kill(process.pid, "SIGKILL"));`;
  const died = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: project.directory });
  expect([died.signal, String(died.stderr)]).toEqual(["SIGKILL", ""]);
  expect((await cli("verify")).code).toBe(1);
  expect((await cli("add", "--yes", ...here)).code).toBe(0);
  expect(await cli("verify")).toMatchObject({ code: 0, stdout: expect.stringContaining("ok       pdf") as string });
});
