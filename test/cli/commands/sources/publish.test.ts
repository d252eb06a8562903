import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type CliRun, runCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { openFakeRegistry } from "../../../sources/source/kinds/oci/fake-registry.ts";
import { hasRegistry, openRealRegistry, whyNoRegistry } from "../../../sources/source/kinds/oci/real-registry.ts";
import { pushArtifact, toolHive } from "../../../sources/source/kinds/oci/artifacts.ts";

const project = useTemporaryProject();

async function cli(...args: readonly string[]): Promise<CliRun> {
  const { stderr, ...run } = await runCli(args, { cwd: project.directory, env: { CI: "" } });
  return { ...run, stderr: unfolded(stderr).replaceAll("acp-skills: ", "") };
}

function writeSkill(name: string, { version = "1.0.0", body = "" } = {}): string {
  const text = skillText(name).replace("---\n\n", `metadata:\n  version: "${version}"\n---\n\n`);
  project.write(`skills/${name}/SKILL.md`, text + body);
  project.write(`skills/${name}/scripts/run.sh`, "#!/bin/sh\necho hello\n");
  project.write(`skills/${name}/.hidden`, "Nobody's business.");
  return `skills/${name}`;
}

/** Signs with a new key. Returns the bundle. */
async function sign(directory: string, key = "key.pem"): Promise<string> {
  await cli("sign", "--generate-key", key);
  expect(await cli("sign", directory, "--key", key)).toMatchObject({ code: 0 });
  return readFileSync(project.at(directory, "skill.sigstore.json"), "utf8");
}

/** Everything in a directory, with what it says. */
function filesIn(directory: string): Readonly<Record<string, string>> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => path.join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((file) => [path.relative(directory, file), readFileSync(file, "utf8")]));
}

describe.skipIf(!hasRegistry)(`a real registry${whyNoRegistry}`, async () => {
  const registry = hasRegistry ? await openRealRegistry() : { host: "127.0.0.1:1", close: () => Promise.resolve() };
  afterAll(() => registry.close());
  const oci = (repository: string): string => `oci://${registry.host}/${repository}`;

  test("what is published is found, installed, locked by its digest, and restored byte-equal in a fresh clone", async () => {
    const published = await cli("publish", oci("one/pdf"), writeSkill("pdf"));
    expect(published).toMatchObject({ code: 0, stderr: `published pdf: ${oci("one/pdf:1.0.0")}\n` });
    const [digest = "", add = ""] = published.stdout.split("\n");
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(add).toBe(`acp-skills add ${oci("one/pdf:1.0.0")}`);
    expect((await cli("discover", oci("one/pdf:1.0.0"))).stdout).toMatch(/^NAME.*\n *pdf +1\.0\.0/m);
    expect(await cli("add", oci("one/pdf:1.0.0"), "--yes")).toMatchObject({ code: 0 });
    const lock = JSON.parse(readFileSync(project.at("skills-lock.json"), "utf8")) as { readonly skills: object };
    expect(lock.skills).toMatchObject({
      pdf: { source: oci("one/pdf:1.0.0"), sourceType: "oci", sourceUrl: `http://${registry.host}/one/pdf`, pin: digest, version: "1.0.0" }, // prettier-ignore
    });
    const installed = filesIn(project.at(".agents/skills/pdf"));
    expect(Object.keys(installed)).toEqual(["SKILL.md", "scripts/run.sh"]);
    // The tag is another skill now: the clone takes what the lock names.
    await pushArtifact(`http://${registry.host}/v2/one/pdf`, "1.0.0", await toolHive("pdf", "1.0.0", "Others."));
    mkdirSync(project.at("clone"));
    cpSync(project.at("skills-lock.json"), project.at("clone/skills-lock.json"));
    const here = { cwd: project.at("clone"), env: { CI: "" } };
    const restored = await runCli(["add", "--yes", "--allow-private", registry.host], here);
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining("1 installed, 0 there already")]);
    expect(filesIn(project.at("clone/.agents/skills/pdf"))).toEqual(installed);
    expect(await runCli(["verify"], here)).toMatchObject({ code: 0, stdout: "ok       pdf\n" });
    // And update takes what the tag names now.
    const updated = await runCli(["update", "--yes", "--allow-private", registry.host], here);
    expect([updated.code, updated.stderr]).toEqual([0, expect.stringContaining("updated pdf")]);
    expect(filesIn(project.at("clone/.agents/skills/pdf"))["SKILL.md"]).toContain("Others.");
  });

  test("a project's lock does not make this machine's registry answer, unless it is allowed", async () => {
    await cli("publish", oci("two/pdf"), writeSkill("pdf"));
    await cli("add", oci("two/pdf:1.0.0"), "--yes");
    rmSync(project.at(".agents"), { recursive: true });
    const { code, stderr } = await cli("add", "--yes");
    expect([code, stderr]).toEqual([3, expect.stringContaining(`add --allow-private ${registry.host}`)]);
  });

  test("publishing again changes nothing; other content needs a new version or --replace", async () => {
    const directory = writeSkill("pdf");
    const first = await cli("publish", oci("three/pdf"), directory);
    const again = await cli("publish", oci("three/pdf"), directory);
    expect(again).toEqual({ ...first, stderr: first.stderr.replace("published", "unchanged") });
    writeSkill("pdf", { body: "More.\n" });
    const refused = await cli("publish", oci("three/pdf"), directory);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("three/pdf:1.0.0 is published with other content, sha256:");
    expect(refused.stderr).toContain("give the skill a new version, or replace it with --replace");
    expect((await cli("publish", oci("three/pdf"), directory, "--replace")).stderr).toContain("published pdf");
    writeSkill("pdf", { version: "1.1.0", body: "More.\n" });
    expect((await cli("publish", oci("three/pdf"), directory)).stderr).toContain("three/pdf:1.1.0");
    // A tag that is no version moves.
    await cli("publish", oci("three/pdf:main"), directory);
    writeSkill("pdf", { version: "1.2.0" });
    expect((await cli("publish", oci("three/pdf:main"), directory)).stderr).toContain("published pdf");
  });

  test("several skills get a repository each", async () => {
    const { code, stdout } = await cli("publish", oci("team"), writeSkill("pdf"), writeSkill("sheet"), "--json");
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        skills: [
          { slug: "pdf", source: oci("team/pdf:1.0.0"), published: true, signed: false },
          { slug: "sheet", source: oci("team/sheet:1.0.0"), published: true, signed: false },
        ],
      },
    ]);
  });

  test("its signature is attached, also later, and comes back with the skill", async () => {
    const directory = writeSkill("pdf");
    const unsigned = await cli("publish", oci("signed/pdf"), directory);
    const bundle = await sign(directory);
    const signed = await cli("publish", oci("signed/pdf"), directory);
    expect(signed).toEqual({ ...unsigned, stderr: `published pdf, signed: ${oci("signed/pdf:1.0.0")}\n` });
    expect((await cli("publish", oci("signed/pdf"), directory)).stderr).toContain("unchanged pdf, signed");
    await cli("add", oci("signed/pdf"), "--yes");
    expect(filesIn(project.at(".agents/skills/pdf"))["skill.sigstore.json"]).toBe(bundle);
    expect(await cli("verify")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("ok       pdf") as string,
    });
    writeSkill("pdf", { version: "1.0.1" });
    const stale = await cli("publish", oci("signed/pdf"), directory);
    expect([stale.code, stale.stderr]).toEqual([
      3,
      expect.stringContaining("sign it again, or remove skill.sigstore.json"),
    ]);
  });
});

test("the signature is found by the referrers API where the registry has it", async () => {
  const registry = await openFakeRegistry();
  const directory = writeSkill("pdf");
  await sign(directory);
  const oci = `oci://${registry.host}/pdf`;
  expect((await cli("publish", oci, directory)).stderr).toContain("published pdf, signed");
  expect([...registry.manifests.keys()].some((key) => key.startsWith("pdf/sha256-"))).toBe(false);
  expect((await cli("publish", oci, directory)).stderr).toContain("unchanged pdf, signed");
  // The newest counts.
  const newest = await sign(directory, "other.pem");
  expect((await cli("publish", oci, directory)).stderr).toContain("published pdf, signed");
  await cli("add", `${oci}:1.0.0`, "--yes");
  expect(filesIn(project.at(".agents/skills/pdf"))["skill.sigstore.json"]).toBe(newest);
});

test("what ToolHive reads is there: its type, one layer, labels and annotations, on two platforms", async () => {
  const registry = await openFakeRegistry();
  await cli("publish", `oci://${registry.host}/pdf`, writeSkill("pdf"));
  const json = (bytes: Uint8Array | undefined): unknown => JSON.parse(Buffer.from(bytes ?? []).toString());
  const index = json(registry.manifests.get("pdf/1.0.0")?.bytes) as {
    readonly manifests: readonly { readonly digest: string }[];
  };
  const says = { "dev.toolhive.skills.name": "pdf", "dev.toolhive.skills.version": "1.0.0" };
  expect(index).toMatchObject({
    artifactType: "dev.toolhive.skills.v1",
    annotations: says,
    manifests: [
      { platform: { os: "linux", architecture: "amd64" } },
      { platform: { os: "linux", architecture: "arm64" } },
    ],
  });
  const manifest = json(registry.manifests.get(`pdf/${index.manifests[0]?.digest ?? ""}`)?.bytes) as {
    readonly config: { readonly digest: string };
  };
  expect(manifest).toMatchObject({
    artifactType: "dev.toolhive.skills.v1",
    config: { mediaType: "application/vnd.oci.image.config.v1+json" },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip" }],
  });
  expect(json(registry.blobs.get(manifest.config.digest))).toMatchObject({
    os: "linux",
    rootfs: { type: "layers", diff_ids: [expect.stringMatching(/^sha256:/)] },
    config: { Labels: { ...says, "dev.toolhive.skills.files": '["SKILL.md","scripts/run.sh"]' } },
  });
});

test.each([
  [["example.com", "skills/pdf"], "skills are published to registries of OCI artifacts, oci://HOST/REPO[:TAG]"],
  [["oci://127.0.0.1:1/pdf", "skills/pdf", "skills/pdf"], "two of the directories are the skill pdf"],
  [["oci://127.0.0.1:1/pdf", "skills/absent"], "skills/absent"],
  [["oci://127.0.0.1:1/pdf", "skills/empty"], "it has no SKILL.md"],
  [["oci://127.0.0.1:1/pdf", "skills/broken"], "is not published: no agent can use it: "],
  [[`oci://127.0.0.1:1/pdf@sha256:${"0".repeat(64)}`, "skills/pdf"], "what is published gets its digest"],
])("publish %j is refused: %s", async (args, why) => {
  writeSkill("pdf");
  mkdirSync(project.at("skills/empty"));
  project.write("skills/broken/SKILL.md", "---\nname: broken\n---\n");
  const { code, stderr } = await cli("publish", ...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
});

test("a registry that wants uploads at another address gets none", async () => {
  const registry = await openFakeRegistry();
  registry.instead = ({ method }, response) => {
    if (method === "POST") response.writeHead(202, { location: "http://127.0.0.1:9/upload" }).end();
    return method === "POST";
  };
  const { code, stderr } = await cli("publish", `oci://${registry.host}/pdf`, writeSkill("pdf"));
  expect([code, stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining("wants uploads at another address, which gets none"),
  ]);
  expect(code).not.toBe(0);
});
