import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPython } from "../src/runtime/sandbox/find.ts";
import { openLandlockTier } from "../src/runtime/sandbox/processes/process-tiers.ts";
import { systemClock } from "../src/base/clock.ts";
import { silentLog } from "../src/base/log.ts";
import { type CliRun, runCli, unfolded } from "./cli/run-cli.ts";

const actions = fileURLToPath(new URL("../examples/actions", import.meta.url));
const unsupported = "network access, scripts in bash, scripts in Node";
const remedy =
  /bubblewrap would add network access, scripts in bash, .*\. bubblewrap is not installed\. Fix, .*: (sudo )?dnf install bubblewrap/;

/** Whether code is isolated by Landlock where bubblewrap is not installed. */
async function isLandlock(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const opened = await openLandlockTier({ pool: { size: 0, idleMs: 0 }, clock: systemClock, log: silentLog });
  if ("run" in opened) await opened.close();
  return "run" in opened;
}

/** The programs of this machine that a run needs, and those of a Fedora that installs others. */
describe.skipIf(!(await isLandlock()))("a machine as it comes, without bubblewrap", () => {
  let directory = "";
  const skills = (): string => path.join(directory, "skills");
  const cli = (...args: readonly string[]): Promise<CliRun> =>
    runCli(args, { cwd: directory, env: { PATH: path.join(directory, "bin") } });

  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), "acp-skills-plain-"));
    mkdirSync(path.join(directory, "bin"));
    const python = await findPython();
    if ("executable" in python) symlinkSync(python.executable, path.join(directory, "bin", "python3"));
    symlinkSync("/bin/bash", path.join(directory, "bin", "bash"));
    writeFileSync(path.join(directory, "bin", "dnf"), "#!/bin/sh\n");
    chmodSync(path.join(directory, "bin", "dnf"), 0o755);
    mkdirSync(path.join(skills(), "shell", "scripts"), { recursive: true });
    writeFileSync(path.join(skills(), "shell", "SKILL.md"), "---\nname: shell\ndescription: Runs a shell.\n---\n");
    writeFileSync(path.join(skills(), "shell", "scripts", "x.sh"), "echo hello\n");
  });
  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  test("doctor says what isolates code, what that is without, and the one command of this system that adds it", async () => {
    const { stdout, code } = await cli("doctor");
    expect(stdout).toMatch(/^isolation +landlock$/m);
    expect(stdout).toMatch(
      new RegExp(`^ +landlock +available, without ${unsupported}.* \\(passed its self-test\\)$`, "m"),
    );
    expect(stdout.match(/fix: .*bubblewrap/g)).toEqual([
      expect.stringMatching(/^fix: (sudo )?dnf install bubblewrap$/),
    ]);
    expect(code).toBe(0);
    const { tiers } = JSON.parse((await cli("doctor", "--json", "--isolation", "landlock")).stdout) as {
      tiers: { tier: string; lacks: string[] }[];
    };
    expect(tiers.find(({ tier }) => tier === "landlock")?.lacks.slice(0, 3)).toEqual(unsupported.split(", "));
  }, 180_000);

  test("a run that can never work here asks for no approval first, and says what to install", async () => {
    const { stderr, code } = await cli("run", "status.fetch", "--skills", actions);
    expect(stderr).toContain("The landlock tier does not support network access.");
    expect(unfolded(stderr)).toMatch(remedy);
    expect(stderr).not.toContain("approv");
    expect(code).toBe(3);
    const script = await cli("run", "shell", "--script", "scripts/x.sh", "--skills", skills());
    expect(script.stderr).toContain("The landlock tier does not support scripts in bash.");
    expect(unfolded(script.stderr)).toMatch(remedy);
  }, 60_000);

  test("env and show say what is missing, not that everything is met", async () => {
    const env = await cli("env", "status.fetch", "--skills", actions);
    expect(env.stdout).toMatch(
      /^missing +status-fetch +a sandbox with network access .*landlock, without network access/m,
    );
    expect(env.stdout).toMatch(remedy);
    expect(env.code).toBe(1);
    const show = await cli("show", "status.fetch", "--skills", actions);
    expect(show.stdout).toMatch(/^environment +missing: a sandbox with network access/m);
    const shell = await cli("show", "shell", "--skills", skills());
    expect(shell.stdout).toMatch(/^environment +unknown: a sandbox with scripts in bash$/m);
  }, 60_000);
});
