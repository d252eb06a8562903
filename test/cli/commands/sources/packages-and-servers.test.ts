import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { exampleServer, serveExample } from "../../../sources/source/kinds/mcp/serve-example.ts";
import { openFakeRegistry, packageOf } from "../../../sources/source/kinds/npm/fake-registry.ts";
import { type CliRun, binary, runCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const skill = { "skills/rows/SKILL.md": skillText("rows"), "skills/rows/scripts/run.sh": "#!/bin/sh\n" };

function clone(name: string, env: Readonly<Record<string, string>> = {}): (...args: string[]) => Promise<CliRun> {
  mkdirSync(project.at(name), { recursive: true });
  return (...args) => runCli(args, { cwd: project.at(name), env: { CI: "", ...env } });
}

const installed = ".agents/skills/rows";

test("a skill from node_modules is restored in a fresh clone from the registry, the same bytes or none", async () => {
  const registry = await openFakeRegistry();
  const { host } = new URL(registry.origin);
  const manifest = { name: "@acme/rows", version: "1.0.0" };
  registry.publish("@acme/rows", "1.0.0", packageOf(manifest, skill));
  const env = { NPM_CONFIG_USERCONFIG: process.env["NPM_CONFIG_USERCONFIG"] ?? "" };
  project.write("first/package.json", JSON.stringify({ dependencies: { "@acme/rows": "^1" } }));
  for (const [file, content] of Object.entries({ ...skill, "package.json": JSON.stringify(manifest) }))
    project.write(`first/node_modules/@acme/rows/${file}`, content);
  expect(await clone("first", env)("add", "npm:node_modules", "--yes")).toMatchObject({ code: 0 });
  expect(registry.asked).toEqual([]);
  expect(readFileSync(project.at("first/skills-lock.json"), "utf8")).toContain('"pin": "@acme/rows@1.0.0"');

  const other = clone("other", env);
  cpSync(project.at("first/skills-lock.json"), project.at("other/skills-lock.json"));
  const restored = await other("add", "--yes", "--allow-private", host);
  expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining("1 installed")]);
  for (const file of ["SKILL.md", "scripts/run.sh"])
    expect(readFileSync(project.at("other", installed, file))).toEqual(
      readFileSync(project.at("first", installed, file)),
    );

  registry.publish("@acme/rows", "1.0.0", packageOf(manifest, { "skills/rows/SKILL.md": skillText("rows", "Is evil.") })); // prettier-ignore
  rmSync(project.at("other", ".agents"), { recursive: true });
  const refused = await other("add", "--yes", "--allow-private", host);
  expect([refused.code, unfolded(refused.stderr)]).toEqual([3, expect.stringContaining("has other bytes now")]);
});

test("a server that is a program is started for a person only: a fresh clone asks for --source once", async () => {
  project.write("published/rows/SKILL.md", skillText("rows"));
  project.write("published/rows/notes/a & b.md", "a – b\n");
  const command = `mcp:"${process.execPath}" "${binary}" mcp --no-default-roots --skills "${project.at("published")}"`;
  expect(await clone("first")("add", command, "--yes")).toMatchObject({ code: 0 });
  const other = clone("other");
  cpSync(project.at("first/skills-lock.json"), project.at("other/skills-lock.json"));
  const refused = await other("add", "--yes");
  expect([refused.code, unfolded(refused.stderr)]).toEqual([
    3,
    expect.stringMatching(/runs a program on this machine, and a project's lock may be written by others; .*--source/),
  ]);
  const { source } = (JSON.parse(readFileSync(project.at("other/skills-lock.json"), "utf8")) as { skills: { rows: { source: string } } }).skills.rows; // prettier-ignore
  expect(await other("add", "--yes", "--source", source)).toMatchObject({ code: 0 });
  for (const file of ["SKILL.md", "notes/a & b.md"])
    expect(readFileSync(project.at("other", installed, file))).toEqual(
      readFileSync(project.at("published/rows", file)),
    );
  expect(await other("verify")).toMatchObject({ code: 0 });
  expect(await other("outdated")).toMatchObject({ code: 0 });
});

/** Skills with files of text and bytes, by path. */
function manySkills(prefix: string, count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, at) => `${prefix}-${String(at)}`);
  const files = names.flatMap((name) => [
    [`${name}/SKILL.md`, skillText(name)],
    [`${name}/scripts/run.sh`, `#!/bin/sh\necho ${name}\n`],
    [`${name}/notes/a & b.md`, `${name} – é\r\n`],
  ]);
  return Object.fromEntries(files) as Record<string, string>;
}

test(
  "150 skills of a package and of two servers are restored byte for byte in a fresh clone",
  { timeout: 60_000 },
  async () => {
    const registry = await openFakeRegistry();
    const env = { NPM_CONFIG_USERCONFIG: process.env["NPM_CONFIG_USERCONFIG"] ?? "" };
    const inPackage = Object.entries(manySkills("package", 50)).map(([file, text]) => [`skills/${file}`, text]);
    registry.publish("rows", "1.0.0", packageOf({ name: "rows", version: "1.0.0" }, Object.fromEntries(inPackage) as Record<string, string>)); // prettier-ignore
    for (const place of ["program", "web"])
      for (const [file, text] of Object.entries(manySkills(place, 50))) project.write(`${place}/${file}`, text);
    const web = `mcp:${await serveExample(project.at("web"))}`;
    const program = `mcp:"${process.execPath}" "${exampleServer}" "${project.at("program")}"`;
    const first = clone("first", env);
    for (const source of ["npm:rows", web, program])
      expect(await first("add", source, "--all", "--yes"), source).toMatchObject({ code: 0 });

    const other = clone("other", env);
    cpSync(project.at("first/skills-lock.json"), project.at("other/skills-lock.json"));
    const hosts = [registry.origin, web.slice(4)].flatMap((url) => ["--allow-private", new URL(url).host]);
    const lock = readFileSync(project.at("other/skills-lock.json"), "utf8");
    const { source } = (JSON.parse(lock) as { skills: Record<string, { source: string }> }).skills["program-0"] ?? {};
    const { code, stderr } = await other("add", "--frozen", "--yes", "--source", source ?? "", ...hosts);
    expect([code, unfolded(stderr)]).toEqual([0, expect.stringContaining("150 installed, 0 there already, 0 not possible")]); // prettier-ignore
    const filesIn = (name: string): readonly string[] =>
      readdirSync(project.at(name, ".agents/skills"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(project.at(name), path.join(entry.parentPath, entry.name)))
        .sort();
    expect(filesIn("other")).toEqual(filesIn("first"));
    expect(filesIn("other")).toHaveLength(450);
    for (const file of filesIn("other"))
      expect(readFileSync(project.at("other", file)).equals(readFileSync(project.at("first", file))), file).toBe(true);
    expect(readFileSync(project.at("other/skills-lock.json"), "utf8")).toBe(lock);
    expect(await other("verify")).toMatchObject({ code: 0 });
  },
);
