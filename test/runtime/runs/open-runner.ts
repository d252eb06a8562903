import type { BlobStore } from "../../../src/runtime/blobs.ts";
import { memoryBlobs } from "../blobs/memory-blobs.ts";
import type { MemoryScript } from "../sandbox/memory-sandbox.ts";
import type { Root } from "../../../src/skills/skillset/roots.ts";
import type { ToolboxOptions } from "../../../src/runtime/tools/toolbox.ts";
import type { ManualClock } from "../../manual-clock.ts";
import { type OpenTools, openTools } from "../tools/open-tools.ts";
import { type MemoryRunsOptions, openMemoryRuns } from "./memory-runs.ts";
import { type ToolLimits, defaultToolLimits } from "../../../src/runtime/blobs/blob-rules.ts";

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

/** The tools over skills in memory; what a program does, the script says. */
export async function openRunner(
  skills: Readonly<Record<string, string>>,
  script: MemoryScript,
  {
    store = memoryBlobs(),
    limits = defaultToolLimits,
    roots,
    onUse,
    ...options
  }: MemoryRunsOptions & {
    readonly store?: BlobStore;
    readonly limits?: ToolLimits;
    readonly roots?: readonly Root[];
    readonly onUse?: ToolboxOptions["onUse"];
  } = {},
): Promise<OpenRunner> {
  const { runs, clock } = openMemoryRuns(script, options);
  const optional = { ...(roots !== undefined && { roots }), ...(onUse !== undefined && { onUse }) };
  const tools = await openTools(skills, { store, runs, limits, ...optional });
  return { ...tools, clock, store };
}
