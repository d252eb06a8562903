import type { BlobStore } from "../../../src/blobs/blob-store.ts";
import { memoryBlobs } from "../../../src/blobs/memory-blobs.ts";
import { memorySandbox } from "../../../src/sandbox/memory-sandbox.ts";
import type { MemoryScript } from "../../../src/sandbox/memory-sandbox.ts";
import { openRuns } from "../../../src/tools/runs/runs.ts";
import type { RunsOptions } from "../../../src/tools/runs/runs.ts";
import { openGrants } from "../../../src/trust/grants.ts";
import { manualClock } from "../../manual-clock.ts";
import type { ManualClock } from "../../manual-clock.ts";
import { openTools } from "../open-tools.ts";
import type { OpenTools } from "../open-tools.ts";

/** A skill with code, as files below `/skills`. */
export function actionSkill(
  name: string,
  extra = "",
  files: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const directory = `/skills/${name}`;
  const manifest = [
    `name = "${name}"`,
    'version = "1.2.0"',
    `description = "Does ${name}."`,
    'kind = "action"',
    "[runtime]",
    'language = "python"',
    'entrypoint = "code/main.py"',
    extra,
  ].join("\n");
  return {
    [`${directory}/SKILL.md`]: `---\nname: ${name}\nshort_description: Short.\n---\n`,
    [`${directory}/skill.toml`]: manifest,
    [`${directory}/code/main.py`]: "def main(args): return args\n",
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`${directory}/${path}`, text])),
  };
}

export interface OpenRunner extends OpenTools {
  readonly clock: ManualClock;
  readonly store: BlobStore;
}

export interface RunnerOptions extends Partial<Omit<RunsOptions, "sandbox" | "grants" | "clock">> {
  readonly grants?: readonly string[];
  readonly refuses?: (run: unknown) => string | undefined;
  readonly unavailable?: Error;
}

/** The tools over skills in memory; what a program does, the script says. */
export async function openRunner(
  skills: Readonly<Record<string, string>>,
  script: MemoryScript,
  { grants = [], refuses, unavailable, ...options }: RunnerOptions = {},
): Promise<OpenRunner> {
  const clock = manualClock();
  const sandbox = memorySandbox(script, { clock, ...(refuses && { refuses }) });
  let count = 0;
  const runs = openRuns({
    sandbox: () => (unavailable ? Promise.reject(unavailable) : Promise.resolve(sandbox)),
    grants: openGrants(grants),
    readSecret: () => Promise.resolve(undefined),
    findPackages: () => Promise.resolve(undefined),
    clock,
    concurrency: 4,
    maxWaiting: 8,
    newRunId: () => `run_${String(++count).padStart(10, "0")}`,
    ...options,
  });
  const store = memoryBlobs();
  return { ...(await openTools(skills, { store, runs })), clock, store };
}
