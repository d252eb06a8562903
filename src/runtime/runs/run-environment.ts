import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import path from "node:path";
import { SkillsError, isSkillsError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Invocation, InvocationEnd } from "../../sources/invoke.ts";
import { doOnce, stayingFor } from "../../base/promises.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Log } from "../../base/log.ts";
import { directoryIdentityOf } from "../../base/paths/identity.ts";
import type { SandboxOptions, TierReport } from "../sandbox/choose-sandbox.ts";
import { findPython } from "../sandbox/find.ts";
import { liesIn } from "../../base/paths/location.ts";
import type { Sandbox } from "../sandbox.ts";
import { envFileSecrets, firstOf, hasKeychain, keychainSecrets, memorySecrets } from "../secrets.ts";
import type { RunsOptions } from "../runs.ts";
import { type RunStore, diskRunStore } from "./run-store.ts";
import type { FoundSandbox } from "../../skills/environment.ts";

/** The services that runs need, from the settings; the sandbox is opened with the first run. */
export interface LocalRunEnvironment extends Omit<RunsOptions, "trust" | "configured" | "recordStart" | "recordSent"> {
  /** Opens the sandbox to find out what isolates code here, or why nothing does. */
  findSandbox(): Promise<FoundSandbox>;
  /** Opens each tier to find out which are available. */
  report(): Promise<readonly TierReport[]>;
  /** Releases the sandbox, if one was opened. */
  close(): Promise<void>;
}

/** Returns the directory of the packages that `acp-skills install` installs. */
export function packagesIn(dataDirectory: string): string {
  return path.join(dataDirectory, "packages");
}

export interface RunSettings {
  readonly dataDirectory: string;
  readonly secretsFile: string | undefined;
  readonly isolation: NonNullable<SandboxOptions["isolation"]>;
  /** Hosts with private addresses that may offer skills on other machines. */
  readonly allowPrivate: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Returns the directory of the records of runs. */
export function runRecordsIn(dataDirectory: string): string {
  return path.join(dataDirectory, "runs");
}

/** The maximum number of queued runs for each running one. */
const waitingEach = 32;

/** Opens the environment of runs. `openSandbox` replaces the tiers; `records` replaces the records on disk. */
export function openRunEnvironment(
  settings: RunSettings,
  given: { readonly openSandbox?: (() => Promise<Sandbox>) | undefined; readonly records?: RunStore | undefined } = {},
): LocalRunEnvironment {
  const { secretsFile, isolation, dataDirectory, allowPrivate, clock, log } = settings;
  const secrets = firstOf([
    memorySecrets(process.env),
    ...(secretsFile === undefined ? [] : [envFileSecrets(secretsFile)]),
    ...(hasKeychain(process.platform) ? [keychainSecrets(process.platform)] : []),
  ]);
  const records = given.records ?? diskRunStore(runRecordsIn(dataDirectory), { log });
  const concurrency = Math.max(2, availableParallelism());
  const digests = new LimitedMap<string, Promise<string>>(100);

  async function open(everyTier: boolean) {
    const [{ openSandbox }, { openEgressProxy }] = await Promise.all([
      import("../sandbox/choose-sandbox.ts"),
      import("../sandbox/egress-proxy.ts"),
    ]);
    return await stayingFor(
      openSandbox({
        isolation,
        everyTier,
        cacheDirectory: path.join(dataDirectory, "pyodide"),
        egress: (server, network, log, endpoint) => openEgressProxy(server, { network, clock, log, endpoint }),
        clock,
        log,
      }),
    );
  }

  const sandbox = openLater(async () => {
    if (given.openSandbox !== undefined) return await stayingFor(given.openSandbox());
    const { sandbox: opened, tiers } = await open(false);
    if (opened === undefined) throw nothingIsolates(tiers);
    return opened;
  });
  const outside = openLater(async () => {
    const { openUnconfinedSandbox } = await import("../sandbox/unconfined-sandbox.ts");
    const opened = await stayingFor(openUnconfinedSandbox({ clock, log }));
    if ("reason" in opened) throw new SkillsError("SANDBOX_UNAVAILABLE", opened.reason);
    return opened;
  });

  /** Logs an unreadable secret for the user only: the caller learns no path of this machine. Throws other errors. */
  function tellUser(error: unknown): undefined {
    if (!isSkillsError(error) || error.code !== "UNREADABLE") throw error;
    log("warning", error.message);
  }

  return {
    sandbox: sandbox.get,
    withoutSandbox: outside.get,
    records,
    now: Date.now,
    readSecret: async (name, skill) => await secrets(name, skill).catch(tellUser),
    refuseProject: (directory) =>
      liesIn(dataDirectory, directory) || liesIn(directory, dataDirectory)
        ? `${directory} cannot be used as a project: it contains the data directory of acp-skills, or is inside it.`
        : undefined,
    async findPackages(skill, requirements) {
      const python = await findPython();
      if ("reason" in python) return undefined;
      const { digestOfPackages, findPackagesOf } = await import("../sandbox/requirements.ts");
      const cache = packagesIn(dataDirectory);
      const directory = await findPackagesOf(skill.directory, { requirements, python: python.executable, cache });
      if (directory === undefined) return undefined;
      // Installed packages do not change; a new installation is another directory.
      const key = JSON.stringify([directory, directoryIdentityOf(directory)]);
      const digest = digests.get(key) ?? digestOfPackages(directory);
      digests.set(key, digest);
      return { directory, digest: await digest };
    },
    openRequests: async (typed) => {
      const { openFetcher } = await import("../../sources/fetch.ts");
      return openFetcher({ allowPrivate, typed, clock });
    },
    invoke: async (invocation, signal) => await stayingFor(invoke(invocation, { allowPrivate, clock, signal })),
    clock,
    concurrency,
    maxWaiting: concurrency * waitingEach,
    newRunId: () => `run_${randomBytes(8).toString("hex")}`,
    async findSandbox() {
      try {
        const { tier, lacks, remedy } = await sandbox.get();
        return { tier, lacks, ...(remedy !== undefined && { remedy }) };
      } catch (error) {
        if (isSkillsError(error, "CLOSED")) throw error;
        if (isSkillsError(error)) return { reason: error.message };
        log("error", `The sandbox cannot be opened: ${String(error)}`);
        return { reason: "The sandbox cannot be opened; see the log." };
      }
    },
    async report() {
      const { sandbox: opened, tiers } = await open(true);
      if (opened !== undefined) await stayingFor(opened.close());
      return tiers;
    },
    async close() {
      const closed = [sandbox.close(), outside.close()];
      await records.close();
      await Promise.all(closed);
    },
  };
}

/** A sandbox that is opened with the first run that needs it. */
function openLater(open: () => Promise<Sandbox>) {
  let opening: Promise<Sandbox> | undefined;
  let isClosed = false;
  // The user may install something before the next run.
  const opened = doOnce(() => (opening = open()));
  return {
    get: async () => {
      if (isClosed) throw new SkillsError("CLOSED", "The tools were closed.");
      return await opened();
    },
    async close() {
      isClosed = true;
      const last = await opening?.catch(() => undefined);
      if (last !== undefined) await stayingFor(last.close());
    },
  };
}

/** Invokes a skill on another machine, or on this one: the endpoint was approved by the user or on the user's behalf. */
async function invoke(
  invocation: Invocation,
  { allowPrivate, clock, signal }: Pick<RunSettings, "allowPrivate" | "clock"> & { readonly signal: AbortSignal },
): Promise<InvocationEnd> {
  const [{ openFetcher }, { invokeSkill }] = await Promise.all([
    import("../../sources/fetch.ts"),
    import("../../sources/invoke.ts"),
  ]);
  const fetcher = openFetcher({ allowPrivate, typed: [invocation.endpoint], clock });
  try {
    return await invokeSkill(invocation, { fetcher, clock }, signal);
  } finally {
    await fetcher.close();
  }
}

function nothingIsolates(tiers: readonly TierReport[]): SkillsError {
  const all = new Set(tiers.map(({ reason }) => reason));
  const each = tiers.map(({ tier, reason = "unusable" }) => `${tier}: ${reason}`).join(" ");
  const reasons = tiers.length > 1 && all.size === 1 ? (tiers[0]?.reason ?? each) : each;
  const hint = "acp-skills doctor says how to fix that.";
  return new SkillsError("SANDBOX_UNAVAILABLE", `No sandbox is available. ${reasons}`, { facts: { hint } });
}
