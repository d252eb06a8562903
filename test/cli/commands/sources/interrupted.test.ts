import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runCli } from "../../run-cli.ts";
import type { CliRun } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.directory });
const here = ["--allow-private", "127.0.0.1"];
const texts = { old: skillText("alpha"), new: skillText("alpha", "Newer. Use when alpha is asked for.") };
const skillMd = (): string => project.at(".agents/skills/alpha/SKILL.md");
const staging = new URL("../../../../dist/remote/lock/staging.js", import.meta.url).href;

/** Replaces alpha by its new version in a process that kills itself at a moment of the work. */
function replaceAndDie(moment: "between" | "after"): void {
  const program = `
    import { openStaging } from ${JSON.stringify(staging)};
    const die = () => process.kill(process.pid, "SIGKILL");
    const staging = openStaging(${JSON.stringify(project.at(".agents", "skills"))});
    staging.write("alpha", [{ path: "SKILL.md", bytes: Buffer.from(${JSON.stringify(texts.new)}), executable: false }]);
    staging.swap("alpha", () => ${moment === "between" ? "die()" : "true"});
    die();`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", program]);
  expect(signal).toBe("SIGKILL");
}

test("killed between the old version and the new one, the next command has the old one", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: { "SKILL.md": texts.old } });
  await cli("add", origin, "--yes");
  replaceAndDie("between");
  expect(existsSync(skillMd())).toBe(false);
  expect((await cli("update", "--yes", ...here)).stderr).toBe("acp-skills: everything is up to date\n");
  expect(readFileSync(skillMd(), "utf8")).toBe(texts.old);
  expect((await cli("verify")).code).toBe(0);
  expect(readdirSync(project.at(".agents"))).toEqual(["skills"]);
});

test("killed before the lock is written, the new version is there and the next update locks it", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: { "SKILL.md": texts.old } });
  await cli("add", origin, "--yes");
  await publish({ alpha: { "SKILL.md": texts.new } });
  replaceAndDie("after");
  expect(readFileSync(skillMd(), "utf8")).toBe(texts.new);
  expect((await cli("verify")).code).toBe(1);
  expect((await cli("update", "--yes", ...here)).code).toBe(0);
  expect((await cli("verify")).code).toBe(0);
  expect(readdirSync(project.at(".agents"))).toEqual(["skills"]);
});
