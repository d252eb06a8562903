import { chmodSync, existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { hasGit, serveGit, TestRepository, whyNoGit } from "../../../sources/reader/git/git-server.ts";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.directory });
const here = ["--allow-private", "127.0.0.1"];

test.runIf(hasGit)(`a skill of a repository is locked with its commit and follows its branch${whyNoGit}`, async () => {
  const repository = new TestRepository({
    "skills/alpha/SKILL.md": skillText("alpha"),
    "skills/alpha/scripts/run.sh": { script: "#!/bin/sh\n" },
    "skills/beta/SKILL.md": skillText("beta"),
  });
  const server = await serveGit({ repo: repository.directory });
  onTestFinished(async () => {
    await server.close();
    repository.remove();
  });
  const first = repository.head;
  const added = await cli("add", `git:${server.url}/repo.git#main`, "alpha", "--yes");
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("installed alpha") as string });
  const entry = (): Record<string, unknown> => {
    const { skills } = JSON.parse(readFileSync(project.at("skills-lock.json"), "utf8")) as {
      skills: Record<string, object>;
    };
    return { ...skills["alpha"] };
  };
  expect(entry()).toMatchObject({
    source: `${server.url}/repo.git`,
    sourceUrl: `${server.url}/repo.git`,
    sourceType: "git",
    ref: "main",
    skillPath: "skills/alpha/SKILL.md",
    commit: first,
  });
  expect(await cli("outdated", ...here)).toMatchObject({ code: 0, stderr: "acp-skills: no skill is outdated\n" });
  const second = repository.commit({ "skills/alpha/more.md": "more\n" });
  expect((await cli("outdated", ...here)).stdout).toContain(`(${first.slice(0, 7)})`);
  expect((await cli("update", "--yes", ...here)).stderr).toContain(`(${second.slice(0, 7)})`);
  expect(entry()).toMatchObject({ commit: second });
  expect(readdirSync(project.at(".agents/skills/alpha"))).toEqual(["SKILL.md", "more.md", "scripts"]);
  expect((await cli("verify")).code).toBe(0);
});

test.runIf(hasGit)(
  `a fresh clone gets the bytes of the locked commit, whatever the branch has now${whyNoGit}`,
  async () => {
    const repository = new TestRepository({ "skills/alpha/SKILL.md": skillText("alpha") });
    const server = await serveGit({ repo: repository.directory });
    onTestFinished(async () => {
      await server.close();
      repository.remove();
    });
    await cli("add", `git:${server.url}/repo.git#main`, "--yes");
    const lock = readFileSync(project.at("skills-lock.json"), "utf8");
    repository.commit({ "skills/alpha/SKILL.md": `${skillText("alpha")}Newer.\n` });
    rmSync(project.at(".agents"), { recursive: true });
    expect(await cli("add", "--frozen", ...here)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("1 installed, 0 there already, 0 not possible") as string,
    });
    expect(readFileSync(project.at(".agents/skills/alpha/SKILL.md"), "utf8")).toBe(skillText("alpha"));
    expect(readFileSync(project.at("skills-lock.json"), "utf8")).toBe(lock);
    // An entry as the skills package writes it, with the commit only.
    const whole = (JSON.parse(lock) as { skills: { alpha: Record<string, unknown> } }).skills.alpha;
    const pinned = ["source", "sourceUrl", "sourceType", "ref", "skillPath", "commit"];
    const bare = Object.fromEntries(pinned.map((key) => [key, whole[key]]));
    project.write("skills-lock.json", JSON.stringify({ version: 1, skills: { alpha: bare } }));
    rmSync(project.at(".agents"), { recursive: true });
    expect((await cli("add", "--frozen", ...here)).code).toBe(0);
    expect(readFileSync(project.at(".agents/skills/alpha/SKILL.md"), "utf8")).toBe(skillText("alpha"));
  },
);

test.runIf(hasGit)(`a fresh clone gets a skill that a marketplace names in another repository${whyNoGit}`, async () => {
  const plugin = new TestRepository({
    ".claude-plugin/plugin.json": JSON.stringify({ name: "tools", version: "1.0.0" }),
    "skills/alpha/SKILL.md": skillText("alpha"),
  });
  const market = new TestRepository({ "README.md": "A market.\n" });
  const server = await serveGit({ market: market.directory, plugin: plugin.directory });
  onTestFinished(async () => {
    await server.close();
    for (const repository of [plugin, market]) repository.remove();
  });
  market.commit({
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "market",
      owner: { name: "Owner" },
      plugins: [{ name: "tools", source: { source: "url", url: `${server.url}/plugin.git` } }],
    }),
  });
  const added = await cli("add", `git:${server.url}/market.git`, "--yes", ...here);
  expect(added.stderr).toContain("installed alpha");
  const lock = readFileSync(project.at("skills-lock.json"), "utf8");
  // Its commit is of the plugin's repository: the marketplace has none of that id.
  expect(lock).toContain(plugin.head);
  rmSync(project.at(".agents"), { recursive: true });
  expect(await cli("add", "--frozen", ...here)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("1 installed, 0 there already, 0 not possible") as string,
  });
});

test.runIf(hasGit)(`a skill of a marketplace's plugin is installed and found again${whyNoGit}`, async () => {
  const repository = new TestRepository({
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "market",
      owner: { name: "Owner" },
      plugins: [{ name: "tools", source: "./plugins/tools", description: "Tools." }],
    }),
    "plugins/tools/.claude-plugin/plugin.json": JSON.stringify({ name: "tools", version: "1.0.0" }),
    "plugins/tools/skills/alpha/SKILL.md": skillText("alpha"),
  });
  const server = await serveGit({ market: repository.directory });
  onTestFinished(async () => {
    await server.close();
    repository.remove();
  });
  expect(await cli("add", `git:${server.url}/market.git`, "--yes")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("installed alpha") as string,
  });
  expect(await cli("outdated", ...here)).toMatchObject({ code: 0, stderr: "acp-skills: no skill is outdated\n" });
  repository.commit({
    "plugins/tools/skills/alpha/SKILL.md": skillText("alpha", "Newer. Use when alpha is asked for."),
  });
  expect(await cli("update", "--yes", ...here)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("updated alpha") as string,
  });
});

test.runIf(hasGit && process.platform !== "win32")(
  `a project's lock starts ssh, which has a person's keys, only for a URL that the person gave once${whyNoGit}`,
  async () => {
    const started = project.at("started");
    chmodSync(project.write("bin/ssh", `#!/bin/sh\ntouch ${started}\nexit 255\n`), 0o755);
    const env = { PATH: `${project.at("bin")}:${process.env["PATH"] ?? ""}`, HOME: project.at("home") };
    const run = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.at("work"), env });
    const url = "ssh://git@1.1.1.1/o/r.git";
    const entry = { source: url, sourceUrl: url, sourceType: "git", skillPath: "SKILL.md" };
    project.write("work/skills-lock.json", JSON.stringify({ version: 1, skills: { alpha: entry } }));
    for (const command of [["outdated"], ["update", "--yes"], ["update", "--yes", "--allow-private", "1.1.1.1"]])
      expect(await run(...command)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`if you trust it, give it once: --source ${url}`) as string,
      });
    expect(existsSync(started)).toBe(false);
    expect((await run("outdated", "--source", url)).code).toBe(3);
    expect(existsSync(started)).toBe(true);
    rmSync(started);
    await run("outdated");
    expect(existsSync(started)).toBe(true);
    rmSync(started);
    expect(readdirSync(project.at("work"))).toEqual(["skills-lock.json"]);
    // Another repository of that host is another URL.
    project.write(
      "work/skills-lock.json",
      JSON.stringify({ version: 1, skills: { alpha: { ...entry, sourceUrl: `${url}x` } } }),
    );
    expect((await run("update", "--yes")).stderr).toContain("give it once");
    expect(existsSync(started)).toBe(false);
  },
);
