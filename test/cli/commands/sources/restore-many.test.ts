import { cpSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestRepository, hasGit, serveGit, whyNoGit } from "../../../sources/reader/git/git-server.ts";
import { agentSkills, indexOf, pushArtifact } from "../../../sources/source/kinds/oci/artifacts.ts";
import { openFakeRegistry } from "../../../sources/source/kinds/oci/fake-registry.ts";
import { openFakeRegistry as openFakeNpm, packageOf } from "../../../sources/source/kinds/npm/fake-registry.ts";
import { type CliRun, binary, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();

const perSource = 40;
const numbers = Array.from({ length: perSource }, (_, index) => String(index).padStart(2, "0"));

/** What every kind of source has to keep: bytes that are no text, names outside of ASCII, line ends, an empty file. */
function filesOf(name: string): Record<string, string> {
  return {
    "SKILL.md": skillText(name),
    "docs/é – ü.md": `\ufeff${name}\r\nline\r`,
    "docs/empty.txt": "",
    "scripts/run.sh": `#!/bin/sh\necho ${name}\n`,
  };
}

function below(directory: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) =>
      Object.entries(filesOf(name)).map(([file, text]) => [`${directory}/${name}/${file}`, text]),
    ),
  );
}

/** Every file below a directory with its bytes. */
function bytesIn(directory: string): ReadonlyMap<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name))
      .map((file) => [path.relative(directory, file), readFileSync(file).toString("base64")] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

test.runIf(hasGit)(
  `a fresh clone restores 200 skills of all kinds of source byte for byte, whatever these have now${whyNoGit}`,
  { timeout: 240_000 },
  async () => {
    const named = (kind: string): readonly string[] => numbers.map((number) => `${kind}-${number}`);
    const publisher = await openPublisher();
    await publisher.publish(Object.fromEntries(named("web").map((name) => [name, filesOf(name)])));
    const repository = new TestRepository(below("skills", named("git")));
    const git = await serveGit({ repo: repository.directory });
    onTestFinished(async () => {
      await git.close();
      repository.remove();
    });
    const npm = await openFakeNpm();
    npm.publish("many", "1.0.0", packageOf({ name: "many", version: "1.0.0" }, below("skills", named("npm"))));
    const { NPM_CONFIG_USERCONFIG: settings = "" } = process.env;
    const registry = await openFakeRegistry();
    const artifacts = await Promise.all(named("oci").map((name) => agentSkills(name)));
    const parts = artifacts.map((artifact, index) => [artifact, annotated(named("oci")[index] ?? "")] as const);
    const collection = { artifactType: "application/vnd.agentskills.collection.v1" };
    await pushArtifact(`http://${registry.host}/v2/team/many`, "latest", indexOf(parts, collection));
    for (const [file, text] of Object.entries(below("served", named("mcp")))) project.write(file, text);

    const at = (name: string): ((...args: string[]) => Promise<CliRun>) => {
      mkdirSync(project.at(name), { recursive: true });
      return (...args) => runCli(args, { cwd: project.at(name), env: { NPM_CONFIG_USERCONFIG: settings, CI: "" } });
    };
    const first = at("first");
    const server = `mcp:"${process.execPath}" "${binary}" mcp --no-default-roots --skills "${project.at("served")}"`;
    const sources = [
      publisher.origin,
      `git:${git.url}/repo.git#main`,
      "npm:many",
      `oci://${registry.host}/team/many`,
      server,
    ];
    for (const source of sources)
      expect(await first("add", source, "--all", "--yes")).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(`${perSource} installed, 0 refused`) as string,
      });
    const installed = bytesIn(project.at("first/.agents/skills"));
    expect(new Set([...installed.keys()].map((file) => file.split(path.sep)[0])).size).toBe(5 * perSource);

    repository.commit({ "skills/git-00/SKILL.md": skillText("git-00", "Is newer. Use never.") });
    npm.publish("many", "2.0.0", packageOf({ name: "many", version: "2.0.0" }, below("skills", named("newer"))));
    const newer = indexOf([[await agentSkills("newer"), annotated("newer")]], collection);
    await pushArtifact(`http://${registry.host}/v2/team/many`, "latest", newer);

    const clone = at("clone");
    cpSync(project.at("first/skills-lock.json"), project.at("clone/skills-lock.json"));
    const hosts = ["--allow-private", "127.0.0.1"];
    // Only a person starts a program: the lock alone does not.
    expect((await clone("add", "--frozen", ...hosts)).stderr).toContain("runs a program on this machine");
    const restored = await clone("add", "--frozen", ...hosts, "--source", server);
    expect(restored).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("200 installed, 0 there already") as string,
    });
    expect(bytesIn(project.at("clone/.agents/skills"))).toEqual(installed);
    expect(await clone("verify")).toMatchObject({ code: 0 });
    expect(readFileSync(project.at("clone/skills-lock.json"))).toEqual(
      readFileSync(project.at("first/skills-lock.json")),
    );
  },
);

function annotated(name: string): object {
  return { annotations: { "io.agentskills.skill.name": name } };
}
