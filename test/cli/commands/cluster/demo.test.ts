import { readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../../../src/base/log.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { startTrialPostgres } from "../../../../src/cli/commands/cluster/trial-postgres.ts";
import { openDatabase, parseClusterUrl } from "../../../../src/cluster/database.ts";
import { clusterFault } from "../../../cluster/modern-node.ts";
import { runProcess, startCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

/** What a demo would leave behind. */
const leftovers = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => /^acp-skills-(?:demo|database)-/.test(name));

describe.skipIf(clusterFault())("acp-skills cluster demo", () => {
  test("has a database that asks for a password, and removes it", async () => {
    const before = leftovers();
    const postgres = await startTrialPostgres(new AbortController().signal);
    expect(postgres.label).toMatch(/^PostgreSQL \d+.*, of \S+$/);
    const given = { ...parseClusterUrl(postgres.url) };
    const open = async (password: string | undefined) =>
      await openDatabase({ ...given, password }, { log: silentLog, clock: systemClock, connections: 1 });
    const right = await open(given.password);
    expect(await right.query("select 1 as one")).toEqual([{ one: 1 }]);
    await right.close();
    const wrong = await open("acp");
    await expect(wrong.query("select 1")).rejects.toThrow(/password authentication failed/);
    await wrong.close();
    await postgres.stop();
    expect(leftovers()).toEqual(before);
  }, 60_000);

  test("runs 100 skills, and loses none of them with a worker that is killed", async () => {
    const before = leftovers();
    const run = await runProcess(["cluster", "demo", "--json"], { cwd: project.directory });
    expect(run.code, run.stderr).toBe(0);
    const report = JSON.parse(run.stdout) as object;
    expect(report).toMatchObject({ runs: 100, completed: 100, wrong: 0, ok: true });
    const schema = JSON.parse(
      readFileSync(new URL("../../../../schema/output.json", import.meta.url), "utf8"),
    ) as object;
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(schema, "output");
    expect(ajv.validate("output#/$defs/cluster-demo", report), ajv.errorsText()).toBe(true);
    expect(run.stderr).toMatch(/killed worker 1 \(process \d+\) after 30 runs/);
    expect(leftovers()).toEqual(before);
  }, 240_000);

  test("leaves nothing behind when it is interrupted", async () => {
    const before = leftovers();
    const child = startCli(["cluster", "demo"], { cwd: project.directory });
    child.stdin.end();
    child.stdout.resume();
    let text = "";
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      const isFirst = text === "";
      text += piece;
      if (isFirst) child.kill("SIGINT");
    });
    expect(await ended, text).toBe(130);
    expect(text).toMatch(/on loopback\n.*interrupted\n$/);
    expect(leftovers()).toEqual(before);
  }, 60_000);
});
