import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CliRun, runCli } from "../../../../cli/run-cli.ts";
import { useTemporaryProject } from "../../../../cli/temporary-project.ts";
import { alphaAndBeta, skillIn } from "./fake-registry.ts";
import { hasVerdaccio, openVerdaccio, whyNoVerdaccio } from "./real-verdaccio.ts";

const project = useTemporaryProject();

/** Publishes a package with npm itself. */
function publish(npmrc: string, name: string, version: string, files: Readonly<Record<string, string>>): void {
  const place = `publish/${name}-${version}`;
  const scripts = { postinstall: "touch /tmp/acp-skills-postinstall-ran" };
  project.write(`${place}/package.json`, JSON.stringify({ name, version, scripts }));
  for (const [file, content] of Object.entries(files)) project.write(`${place}/${file}`, content);
  const options = { cwd: project.at(place), env: { PATH: process.env.PATH, HOME: project.directory, NPM_CONFIG_USERCONFIG: npmrc } }; // prettier-ignore
  const { status, stderr } = spawnSync("npm", ["publish", "--ignore-scripts"], { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

test.skipIf(!hasVerdaccio)(
  `packages that npm published to verdaccio are added, restored in a fresh clone and updated${whyNoVerdaccio}`,
  { timeout: 60_000 },
  async () => {
    const registry = await openVerdaccio();
    onTestFinished(() => registry.close());
    const { url, token } = registry;
    const { host } = new URL(url);
    const own = project.write("own.npmrc", `registry=${url}\n//${host}/:_authToken=\${TOKEN}\n`);
    const npmrc = project.write("publish.npmrc", `registry=${url}\n//${host}/:_authToken=${token}\n`);
    publish(npmrc, "@private/skills", "1.0.0", alphaAndBeta);
    publish(npmrc, "rows", "1.0.0", { ...skillIn("skills/rows", "rows"), "skills/rows/é.md": "x – y\n" });

    const at = (
      name: string,
    ): { readonly cli: (...args: string[]) => Promise<CliRun>; readonly file: (file: string) => Buffer } => {
      mkdirSync(project.at(name), { recursive: true });
      const env = { NPM_CONFIG_USERCONFIG: own, TOKEN: token, CI: "" };
      return {
        cli: (...args) => runCli(args, { cwd: project.at(name), env }),
        file: (file) => readFileSync(project.at(name, file)),
      };
    };
    const first = at("first");
    expect(await first.cli("add", "npm:@private/skills@^1", "--all", "--yes")).toMatchObject({ code: 0 });
    expect(await first.cli("add", "npm:rows", "--yes")).toMatchObject({ code: 0 });
    const lock = JSON.parse(first.file("skills-lock.json").toString()) as { skills: Record<string, object> };
    expect(lock.skills["alpha"]).toMatchObject({
      source: "npm:@private/skills@^1",
      sourceType: "npm",
      sourceUrl: `${url}@private/skills`,
      pin: expect.stringMatching(/^@private\/skills@1\.0\.0 sha512-/) as string,
    });

    publish(npmrc, "@private/skills", "1.1.0", { ...skillIn("skills/alpha", "alpha"), "skills/alpha/new.md": "new" });
    const clone = at("clone");
    cpSync(project.at("first/skills-lock.json"), project.at("clone/skills-lock.json"));
    const refused = await clone.cli("add", "--yes");
    expect(refused.stderr).toContain(`is on this machine, and a project's lock may be written by others`);
    expect(await clone.cli("add", "--yes", "--allow-private", host)).toMatchObject({ code: 0 });
    for (const file of ["alpha/SKILL.md", "alpha/scripts/run.sh", "beta/SKILL.md", "rows/é.md"])
      expect(clone.file(`.agents/skills/${file}`)).toEqual(first.file(`.agents/skills/${file}`));
    expect(await clone.cli("verify")).toMatchObject({ code: 0 });

    const updated = await clone.cli("update", "alpha", "--yes", "--allow-private", host);
    expect(updated).toMatchObject({ code: 0 });
    expect(clone.file(".agents/skills/alpha/new.md").toString()).toBe("new");
    expect(clone.file("skills-lock.json").toString()).toContain("@private/skills@1.1.0 sha512-");

    writeFileSync(own, `registry=${url}\n`);
    const anonymous = at(path.join("anonymous"));
    expect((await anonymous.cli("add", "npm:@private/skills", "--all", "--yes")).stderr).toMatch(
      /answered (?:with status )?40[13]|does not have @private\/skills, or not for you/,
    );
  },
);
