import { openSignatures } from "../../../src/skills/signature.ts";
import { memoryBlobs } from "../blobs/memory-blobs.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { RunCaller } from "../../../src/runtime/runs/run-caller.ts";
import type { RunEvent } from "../../../src/wire/run-event.ts";
import type { Runs } from "../../../src/runtime/runs.ts";
import { memoryRunStore } from "./memory-run-store.ts";
import type { RunStore } from "../../../src/runtime/runs/run-store.ts";
import type { MemoryScript } from "../sandbox/memory-sandbox.ts";
import { Catalog } from "../../../src/skills/skillset/catalog.ts";
import { type MemorySkillFiles, memorySkillBytes, memorySkillFiles } from "../../skills/files/memory-skill-files.ts";
import { createSkillHasher } from "../../../src/skills/hash.ts";
import { viewSkills } from "../../../src/runtime/caller/skill-view.ts";
import { type MemoryRunsOptions, openMemoryRuns } from "./memory-runs.ts";
import { defaultToolLimits } from "../../../src/runtime/blobs/blob-rules.ts";

export interface OpenMemoryRun {
  readonly runs: Runs;
  readonly caller: RunCaller;
  readonly files: MemorySkillFiles;
  readonly records: RunStore;
  readonly events: readonly RunEvent[];
}

/** Runs below the tools, over skills in memory; what a program does, the script says. */
export async function openMemoryRun(
  skills: Readonly<Record<string, string>>,
  script: MemoryScript,
  options: MemoryRunsOptions = {},
): Promise<OpenMemoryRun> {
  const files = memorySkillFiles(skills);
  files.makeDirectory("/skills");
  const roots = [{ path: "/skills", origin: "explicit" }] as const;
  const catalog = new Catalog({ roots, files, clock: systemClock, log: () => undefined });
  await catalog.ready;
  const source = { files, bytes: memorySkillBytes(files) };
  const hasher = createSkillHasher();
  const events: RunEvent[] = [];
  const records = memoryRunStore({ now: () => 0 });
  const { runs } = openMemoryRuns(script, { records, ...options });
  const caller: RunCaller = {
    owner: "me",
    sessionId: "s1",
    transport: "cli",
    label: "a test",
    blobs: memoryBlobs(),
    limits: defaultToolLimits,
    skills: viewSkills(catalog.snapshot, undefined),
    signatures: openSignatures(),
    sourceOf: () => source,
    hashFiles: (skill, signal) => hasher.hash(source, skill.directory, signal),
    project: undefined,
    projectIdentity: undefined,
    onEvent: (event) => void events.push(event),
  };
  return { runs, caller, files, records, events };
}
