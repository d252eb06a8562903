import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import path from "node:path";
import { isSkillsError, SkillsError } from "../errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SandboxOptions, TierReport } from "../sandbox/choose-sandbox.ts";
import { findPython } from "../sandbox/find/find-python.ts";
import { liesIn } from "../base/is-within.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { envFileSecrets } from "../secrets/env-file-secrets.ts";
import { firstOf } from "../secrets/first-of.ts";
import { hasKeychain, keychainSecrets } from "../secrets/keychain-secrets.ts";
import { memorySecrets } from "../secrets/memory-secrets.ts";
import type { RunsOptions } from "./runs.ts";
import { openGrants } from "../trust/grants.ts";

/** What runs are made of, joined from the settings; the sandbox is opened with the first run. */
export interface RunMeansOnDisk extends RunsOptions {
  /** What was found out about every tier. Opens each to find out. */
  report(): Promise<readonly TierReport[]>;
  /** Releases the sandbox, if one was opened. */
  close(): Promise<void>;
}

/** Where what `acp-skills install` builds is kept. */
export function packagesIn(dataDirectory: string): string {
  return path.join(dataDirectory, "packages");
}

export interface RunSettings {
  readonly dataDirectory: string;
  /** `NAME:PERMISSION[,…]`. */
  readonly grants: readonly string[];
  readonly secretsFile: string | undefined;
  readonly isolation: NonNullable<SandboxOptions["isolation"]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs that wait, for each that runs. */
const waitingEach = 16;

export function openRunMeans(settings: RunSettings): RunMeansOnDisk {
  const { grants, secretsFile, isolation, dataDirectory, clock, log } = settings;
  const secrets = firstOf([
    memorySecrets(process.env),
    ...(secretsFile === undefined ? [] : [envFileSecrets(secretsFile)]),
    ...(hasKeychain(process.platform) ? [keychainSecrets(process.platform)] : []),
  ]);
  const concurrency = Math.max(2, availableParallelism());
  let opening: ReturnType<typeof open> | undefined;
  let isClosed = false;

  async function open(everyTier: boolean) {
    const [{ openSandbox }, { openEgressProxy }] = await Promise.all([
      import("../sandbox/choose-sandbox.ts"),
      import("../sandbox/egress/egress-proxy.ts"),
    ]);
    return await stayingFor(
      openSandbox({
        isolation,
        everyTier,
        cacheDirectory: path.join(dataDirectory, "pyodide"),
        egress: (server, network, log) => openEgressProxy(server, { network, clock, log }),
        clock,
        log,
      }),
    );
  }

  async function sandbox(): Promise<Sandbox> {
    if (isClosed) throw new SkillsError("CLOSED", "The tools were closed.");
    const tried = (opening ??= open(false));
    try {
      const { sandbox: opened, tiers } = await tried;
      if (opened !== undefined) return opened;
      throw nothingIsolates(tiers);
    } catch (error) {
      // The next one may find what a person has installed meanwhile; another may have begun to look already.
      if (opening === tried) opening = undefined;
      throw error;
    }
  }

  /** Why a place for secrets cannot be looked into is for a person: whoever calls the tools learns no path of this machine. */
  function tellPerson(error: unknown): undefined {
    if (!isSkillsError(error) || error.code !== "UNREADABLE") throw error;
    log("warning", error.message);
  }

  return {
    sandbox,
    grants: openGrants(grants),
    readSecret: async (name, skill) => await secrets.read(name, { skill }).catch(tellPerson),
    refuseProject: (directory) =>
      liesIn(dataDirectory, directory) || liesIn(directory, dataDirectory)
        ? `${directory} cannot be a project: in it lies what acp-skills keeps for all skills, such as blobs and packages.`
        : undefined,
    async findPackages(skill, requirements) {
      const python = await findPython();
      if ("reason" in python) return undefined;
      const { findPackagesOf } = await import("../sandbox/requirements/install-requirements.ts");
      const cache = packagesIn(dataDirectory);
      return await findPackagesOf(skill.directory, { requirements, python: python.executable, cache });
    },
    clock,
    concurrency,
    maxWaiting: concurrency * waitingEach,
    newRunId: () => `run_${randomBytes(8).toString("hex")}`,
    async report() {
      const { sandbox: opened, tiers } = await open(true);
      if (opened !== undefined) await stayingFor(opened.close());
      return tiers;
    },
    async close() {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      if (opened?.sandbox !== undefined) await stayingFor(opened.sandbox.close());
    },
  };
}

/** No sandbox that is closed keeps the process: without this, it could end in the middle. */
async function stayingFor<Result>(work: Promise<Result>): Promise<Result> {
  const hold = setInterval(() => undefined, 1_000);
  try {
    return await work;
  } finally {
    clearInterval(hold);
  }
}

function nothingIsolates(tiers: readonly TierReport[]): SkillsError {
  const all = new Set(tiers.map(({ reason }) => reason));
  const each = tiers.map(({ tier, reason = "unusable" }) => `${tier}: ${reason}`).join(" ");
  const reasons = tiers.length > 1 && all.size === 1 ? (tiers[0]?.reason ?? each) : each;
  const hint = "acp-skills doctor tells how to mend that; without a sandbox nothing is run.";
  return new SkillsError("SANDBOX_UNAVAILABLE", `Nothing here can isolate code. ${reasons}`, { facts: { hint } });
}
