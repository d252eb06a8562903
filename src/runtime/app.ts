import { existsSync } from "node:fs";
import path from "node:path";
import type { BlobStore, BlobUpkeep } from "./blobs.ts";
import { toToolLimits } from "./blobs/blob-rules.ts";
import { diskBlobs } from "./blobs/disk-blobs.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { SkillsError } from "../base/errors.ts";
import { countRefusals, localLedger } from "./ledger/disk-ledger.ts";
import { type Ledger, type SessionRecords } from "./ledger.ts";
import { diskSessionRecords } from "./ledger/disk-session-records.ts";
import type { Settings } from "./options.ts";
import { parseSource } from "../sources/source.ts";
import { type Copies } from "../sources/store.ts";
import { sourceRoot } from "../sources/install-scope.ts";
import type { LocalRunEnvironment } from "./runs/run-environment.ts";
import type { RunStore } from "./runs/run-store.ts";
import { type SkillSource, diskSkillBytes, diskSkillFiles } from "../skills/files.ts";
import { createSkillHasher } from "../skills/hash.ts";
import { type Signatures, openSignatures } from "../skills/signature.ts";
import { type Skillset, openSkillset } from "../skills/skillset.ts";
import type { Runs } from "./runs.ts";
import type { Toolbox } from "./tools/toolbox.ts";
import type { GivenPorts } from "./ports.ts";
import type { Trust } from "./trust.ts";
import { type Policies, createPolicies } from "./trust/policy.ts";
import type { FoundSandbox } from "../skills/environment.ts";

/** Adapters that replace the default ones: ports that the user gives, and others for tests. */
export interface AppPorts extends GivenPorts {
  readonly skillset?: Skillset;
  readonly source?: SkillSource;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** The milliseconds since 1970 by the clock of the disk that holds the blobs. Default: a file is touched to find out. */
  readonly diskNow?: () => number;
}

/** The delay of the first sweep, which must not slow down the first session. */
const firstSweepAfterMs = 2_000;
const sweepEveryMs = 60 * 60 * 1_000;

/**
 * Opens the app. Nothing is read or written until it is used. An unusable data directory is no error: only calls that need it are refused.
 * Once the tools are in use, expired blobs are swept every hour.
 */
export function openApp(settings: Settings, ports: AppPorts = {}): App {
  return new App(settings, ports);
}

/** The methods of the toolbox that transports call. */
type Calls = Pick<Toolbox, keyof Toolbox>;

interface OpenTools {
  readonly toolbox: Calls;
  readonly environment: LocalRunEnvironment;
  readonly trust: Trust;
  readonly runs: Runs;
}

/** The app, which joins skills, tools, trust, runs and stores. It is the same for every transport and knows none. */
export class App {
  readonly blobs: BlobStore & BlobUpkeep;
  readonly ledger: Ledger;
  readonly sessionRecords: SessionRecords;
  /** Reads the files of skills. */
  readonly source: SkillSource;
  readonly hasher = createSkillHasher();
  readonly signatures: Signatures;
  readonly log: Log;
  readonly clock: Clock;
  /** The metrics of the state that is shared with other processes; see `GivenPorts`. */
  readonly sharedMetrics: GivenPorts["metrics"];
  /** The version of this package. */
  readonly version: string;
  /** The tools, whose modules, such as zod, are loaded at the first call; see `load`. */
  readonly toolbox: Calls;
  /** Returns the policy that the organisation and the project of a directory set beforehand. Never throws. */
  readonly policyFor: Policies["policyFor"];
  readonly #settings: Settings;
  readonly #skillset: Skillset;
  readonly #now: () => number;
  readonly #ports: GivenPorts;
  #sources: Promise<Copies | undefined> | undefined;
  #tools: Promise<OpenTools> | undefined;
  #trust: Trust | undefined;
  readonly #trustListeners: ((trust: Trust) => void)[] = [];
  #stopSweeping = (): void => undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: Settings, { skillset, source, now = Date.now, diskNow, ...ports }: AppPorts) {
    const { log, clock, version, dataDirectory, blobs, home, policy, audit } = settings;
    this.log = log;
    this.policyFor = createPolicies({ given: policy, home, log, shared: ports.sharedPolicy }).policyFor;
    this.clock = clock;
    this.signatures = openSignatures(settings.trustedRoot);
    this.version = version;
    this.#settings = settings;
    this.#now = now;
    this.#ports = ports;
    this.sharedMetrics = ports.metrics;
    const remote = settings.sources.map((text) => sourceRoot(dataDirectory, parseSource(text)));
    const local = skillset ?? openSkillset({ ...settings, remote });
    this.#skillset = ports.addSkills?.(local) ?? local;
    this.source = source ?? { files: diskSkillFiles(), bytes: diskSkillBytes() };
    this.ledger = countRefusals(ports.ledger ?? localLedger(dataDirectory, { log, now, audit }), clock);
    this.sessionRecords = diskSessionRecords(path.join(dataDirectory, "sessions"), { clock, log });
    this.blobs =
      ports.blobs ?? diskBlobs(path.join(dataDirectory, "blobs"), { ...blobs, clock, ...(diskNow && { diskNow }) });
    this.toolbox = {
      call: async (...given) => (await this.#opened()).toolbox.call(...given),
      mayRead: async (...given) => (await this.#opened()).toolbox.mayRead(...given),
      check: async (...given) => (await this.#opened()).toolbox.check(...given),
      replay: async (...given) => (await this.#opened()).toolbox.replay(...given),
    };
  }

  openSession: Skillset["openSession"] = (directories) => {
    if (this.#settings.sources.length > 0 && this.#closing === undefined) this.#sources ??= this.#openSources();
    const session = this.#skillset.openSession(directories);
    const { cwd } = directories;
    if (cwd !== undefined) void session.catalog.ready.then(() => this.#tellUnfinished(cwd));
    return session;
  };

  /** Reports a change of installed skills that was killed. Loads no module unless a record says that one was begun. */
  async #tellUnfinished(cwd: string): Promise<void> {
    const { dataDirectory, home } = this.#settings;
    const records = path.join(dataDirectory, "changes");
    if (!existsSync(records) || !existsSync(cwd)) return;
    try {
      const [{ unfinishedWords }, { projectScope }] = await Promise.all([
        import("../sources/lock-file.ts"),
        import("../sources/install-scope.ts"),
      ]);
      const words = unfinishedWords({ ...projectScope(cwd, home, process.env), records });
      if (words !== undefined) this.log("warning", `${cwd}: ${words}.`);
    } catch (error) {
      this.log("warning", `${cwd}: whether a change of its skills was interrupted is not known: ${String(error)}`);
    }
  }

  /** Opens the sources. Their copies on disk are used at once; the catalogs notice later downloads. */
  async #openSources(): Promise<Copies | undefined> {
    try {
      const { openSourceCopies } = await import("../sources/store.ts");
      const { hasher } = this;
      const copies = openSourceCopies(this.#settings, {
        hasher,
        now: this.#now,
        denied: (url) => this.policyFor(undefined).deniesSource(url),
        minimumAge: () => this.policyFor(undefined).minimumAge,
        ...(this.#ports.openReader && { openReader: this.#ports.openReader }),
      });
      if (this.#closing === undefined) copies.start();
      return copies;
    } catch (error) {
      this.log("error", `The skills of ${this.#settings.sources.length} sources are not refreshed: ${String(error)}`);
      return undefined;
    }
  }

  /** Updates the copies of all sources now. Resolves once each copy is up to date or, after a failure, unchanged. */
  async refreshSources(): Promise<void> {
    if (this.#closing !== undefined) throw new SkillsError("CLOSED", "The skills were closed.");
    this.#sources ??= this.#openSources();
    await (await this.#sources)?.refresh(new AbortController().signal);
  }

  /** The trust in skills: approvals, blocks and policies; loaded with the tools. */
  async trust(): Promise<Trust> {
    return (await this.#opened()).trust;
  }

  /** Executes runs; loaded with the tools. */
  async runs(): Promise<Runs> {
    return (await this.#opened()).runs;
  }

  /** Opens the sandbox to find out what isolates code here, or why nothing does. Rejects with CLOSED. */
  async findSandbox(): Promise<FoundSandbox> {
    return await (await this.#opened()).environment.findSandbox();
  }

  /** The records of runs; loaded with the tools. */
  async runRecords(): Promise<Omit<RunStore, "keep" | "close">> {
    return (await this.#opened()).environment.records;
  }

  /** Calls `listener` once trust has been loaded, at once if it already has been. The listener must not throw. */
  readonly onTrust = (listener: (trust: Trust) => void): void => {
    if (this.#trust === undefined) this.#trustListeners.push(listener);
    else listener(this.#trust);
  };

  /** Loads what the first call needs. A failure is not cached: the next call tries again. */
  async load(): Promise<void> {
    await this.#opened();
  }

  #opened(): Promise<OpenTools> {
    if (this.#closing !== undefined) throw new SkillsError("CLOSED", "The skills were closed.");
    this.#tools ??= this.#open().catch((error: unknown) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  async #open(): Promise<OpenTools> {
    const [{ Toolbox }, { Runs }, { openRunEnvironment }, { createLocalTrust }, { recordInLedger }] = await Promise.all(
      [
        import("./tools/toolbox.ts"),
        import("./runs.ts"),
        import("./runs/run-environment.ts"),
        import("./app/local-trust.ts"),
        import("./app/run-entries.ts"),
      ],
    );
    const { dataDirectory, blobs: blobLimits } = this.#settings;
    const { openSandbox, records, executor } = this.#ports;
    const environment = openRunEnvironment(this.#settings, { openSandbox, records });
    const { blobs, source, hasher, signatures, log } = this;
    const { trust, configured } = createLocalTrust(this.#settings, {
      approvals: this.#ports.approvals,
      ledger: this.ledger,
      policyFor: this.policyFor,
      now: this.#now,
    });
    const runs = new Runs({
      ...environment,
      trust,
      configured,
      ...recordInLedger(this.ledger, this.#now),
      executor,
    });
    const toolbox = new Toolbox({
      blobs,
      source,
      hasher,
      signatures,
      log,
      limits: toToolLimits(blobLimits),
      dataDirectory,
      now: this.#now,
      trust,
      runs,
      onUse: (use) => {
        this.ledger.record(use);
      },
    });
    if (this.#closing === undefined) this.#sweepAfter(firstSweepAfterMs);
    this.#trust = trust;
    for (const listener of this.#trustListeners.splice(0)) listener(trust);
    return { toolbox, environment, trust, runs };
  }

  #sweepAfter(ms: number): void {
    this.#stopSweeping = this.clock.after(ms, () => {
      this.#sweepAfter(sweepEveryMs);
      this.blobs.sweep().catch((error: unknown) => {
        if (this.#closing !== undefined) return;
        this.log("warning", `Expired blobs in ${this.#settings.dataDirectory} were not removed: ${String(error)}`);
      });
    });
  }

  /** Closes everything, even if it is still in use. Idempotent; never throws. Later calls reject with CLOSED. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const failed = (error: unknown): void => {
      this.log("warning", `Closing failed: ${String(error)}`);
    };
    // A failure to open was reported to those who called.
    const tools = await this.#tools?.catch(() => undefined);
    this.#stopSweeping();
    const sources = await this.#sources;
    await Promise.all([
      sources?.close().catch(failed),
      this.#skillset.close().catch(failed),
      tools?.environment.close().catch(failed),
    ]);
    await this.blobs.close().catch(failed);
    await this.sessionRecords.close();
    try {
      this.ledger.close();
    } catch (error) {
      failed(error);
    }
    await this.#ports.close?.().catch(failed);
  }
}
