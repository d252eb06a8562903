import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { makeTemporary } from "../../../base/processes/temporary-directory.ts";
import { packageUrl } from "../../../base/paths/location.ts";
import { inParallel } from "../../../base/promises.ts";
import { loadClusterAdmin } from "../../../given-ports.ts";
import { readOptions } from "../../../runtime/options.ts";
import { newToken, toTokenDigest } from "../../../wire/http.ts";
import { type ExitCode, exit, usageError } from "../../command.ts";
import { table } from "../../report/table.ts";
import { type Terminal, interruptible } from "../../report/terminal.ts";
import type { ClusterAction } from "../cluster.ts";
import { type TrialProcess, startTrialProcess } from "./trial-process.ts";
import { startTrialPostgres } from "./trial-postgres.ts";

const skillCount = 100;
const killAfter = 30;
/** The lease of a run, short so that another worker soon repeats the runs of the killed one. */
const leaseSeconds = 5;

export const demoAction: ClusterAction = async ({ options }, { log }, terminal) =>
  await interruptible(terminal, async (signal) => {
    const { clusterNodeFault } = await loadClusterAdmin();
    const fault = clusterNodeFault();
    if (fault !== undefined) throw usageError(fault.replace("--cluster", "A cluster"));
    const directory = makeTemporary(realpathSync(tmpdir()), "demo");
    const stops: (() => Promise<void>)[] = [];
    try {
      return await play({ directory, stops, log, isJson: options.json === true }, terminal, signal);
    } finally {
      terminal.progress.done();
      // The database stops last.
      const [stopDatabase, ...others] = stops;
      await Promise.all(others.map(async (stop) => await stop()));
      await stopDatabase?.();
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  });

interface Stage {
  readonly directory: string;
  /** Functions that stop what the demo started; the first one stops the database. */
  readonly stops: (() => Promise<void>)[];
  readonly log: Terminal["log"];
  readonly isJson: boolean;
}

async function play(
  { directory, stops, log, isJson }: Stage,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { migrateCluster, inCluster, countClaims } = await loadClusterAdmin();
  const { progress } = terminal;
  progress.show("starting PostgreSQL");
  const postgres = await startTrialPostgres(signal);
  stops.push(postgres.stop);
  terminal.note(`${postgres.label}, on loopback`);
  const settings = readOptions({ log, cluster: postgres.url });
  await migrateCluster(settings);
  progress.show("starting two servers and two workers");
  const token = newToken();
  const [config, skills] = [path.join(directory, "serve.json"), path.join(directory, "skills")];
  const digest = toTokenDigest(token).toString("hex");
  writeFileSync(config, JSON.stringify({ callers: [{ name: "demo", token: `sha256:${digest}` }] }));
  writeSkills(skills);
  const startMember = async (name: string, words: readonly string[], ready: RegExp): Promise<TrialProcess> => {
    const home = path.join(directory, name);
    mkdirSync(home);
    const env = { PATH: process.env["PATH"], HOME: home, ACP_SKILLS_HOME: path.join(home, "data"), ACP_SKILLS_CLUSTER: postgres.url }; // prettier-ignore
    const member = await startTrialProcess(process.execPath, [fileURLToPath(packageUrl("cli/main.js")), ...words], { cwd: home, env, ready, signal }); // prettier-ignore
    stops.push(member.stop);
    return member;
  };
  const serve = ["serve", "--port", "0", "--config", config, "--skills", skills, "--no-default-roots"];
  const work = ["worker", "--concurrency", "2", "--lease", String(leaseSeconds), "--drain", "1"];
  const [first, second, victim, survivor] = await Promise.all([
    startMember("server-1", serve, /listening on (\S+)/),
    startMember("server-2", serve, /listening on (\S+)/),
    startMember("worker-1", work, /worker (\S+) executes/),
    startMember("worker-2", work, /worker (\S+) executes/),
  ]);
  const startedAt = performance.now();
  let [ended, completed, wrong] = [0, 0, 0];
  await inParallel([...Array(skillCount).keys()], 8, async (number) => {
    const result = await execute((number % 2 === 0 ? first : second).found[1] ?? "", token, number, signal);
    if (result?.status === "completed") completed++;
    if (result?.status === "completed" && result.output?.square !== number ** 2) wrong++;
    if (++ended === killAfter) {
      void victim.stop("SIGKILL");
      terminal.note(
        `killed worker 1 (process ${victim.pid}) after ${killAfter} runs; its runs go on when its lease has ended`,
      );
    }
    progress.show(`${ended} of ${skillCount} skills`);
  });
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const claims = await inCluster(settings, countClaims);
  const sum = (field: "count" | "repeated", worker?: TrialProcess): number =>
    claims.reduce((total, claim) => total + (worker && claim.worker !== worker.found[1] ? 0 : claim[field]), 0);
  const repeated = sum("repeated");
  const ok = completed === skillCount && wrong === 0 && claims.every(({ status }) => status === "completed");
  if (isJson)
    await terminal.printJson({ database: postgres.label, runs: skillCount, completed, wrong, repeated, seconds, ok });
  else {
    const rows = [
      ["server 1", first.pid, "", `asked for ${skillCount / 2} skills`],
      ["server 2", second.pid, "", `asked for ${skillCount / 2} skills`],
      ["worker 1", victim.pid, sum("count", victim), `killed after ${killAfter} runs`],
      ["worker 2", survivor.pid, sum("count", survivor), `${repeated} of them again, which worker 1 had begun`],
    ];
    const lost = ok ? terminal.paint("green", "nothing was lost") : terminal.paint("red", "something was lost");
    await terminal.print([
      ...table(
        ["MEMBER", "PROCESS", "COMPLETED", ""],
        rows.map((row) => row.map(String)),
        terminal,
      ),
      `\n${completed} of ${skillCount} skills completed in ${seconds} s, ${wrong} with a wrong result: ${lost}.\n`,
    ]);
  }
  return ok ? exit.done : exit.found;
}

/** Writes one action for each number. */
function writeSkills(directory: string): void {
  for (const number of Array(skillCount).keys()) {
    const skill = path.join(directory, `square-${number}`);
    mkdirSync(skill, { recursive: true });
    const name = `demo.square.n${number}`;
    const manifest = `name = "${name}"\nversion = "1.0.0"\ndescription = "Squares ${number}."\nkind = "action"\n`;
    const runtime = '[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n';
    const main = `import time\n\ndef main():\n    time.sleep(0.1)\n    return {"square": ${number} ** 2}\n`;
    writeFileSync(path.join(skill, "SKILL.md"), `---\nname: ${name}\nshort_description: Squares ${number}.\n---\n`);
    writeFileSync(path.join(skill, "skill.toml"), manifest + runtime);
    writeFileSync(path.join(skill, "main.py"), main);
  }
}

/** The result of `execute_skill`. */
interface DemoResult {
  readonly status?: string;
  readonly output?: { readonly square?: number };
}

/** Runs one skill over HTTP; undefined if the server answered with an error. */
async function execute(url: string, token: string, id: number, signal: AbortSignal): Promise<DemoResult | undefined> {
  const params = { name: `demo.square.n${id}`, args: {} };
  const response = await fetch(`${url}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "execute_skill", params }),
    signal,
  });
  return ((await response.json()) as { readonly result?: DemoResult }).result;
}
