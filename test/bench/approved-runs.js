import { constants, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { authorize } from "../../.build/runtime/runs/authorize.js";
import { toMountedSkill } from "../../.build/runtime/runs/execute/prepare-run.js";
import { findMount } from "../../.build/runtime/runs/plan/plan-run.js";
import { planSkillRun } from "../../.build/runtime/runs/plan/plan-skill-run.js";
import { layFiles, makePrivateDirectory } from "../../.build/runtime/sandbox/directory/private-directory.js";
import { openSignatures } from "../../.build/skills/signature.js";
import { Catalog } from "../../.build/skills/skillset/catalog.js";
import { diskSkillBytes, diskSkillFiles } from "../../.build/skills/files/disk-skill-files.js";
import { createSkillHasher } from "../../.build/skills/hash.js";
import { systemClock } from "../../.build/base/clock.js";
import { viewSkills } from "../../.build/runtime/caller/skill-view.js";
import { ConfiguredGrants } from "../../.build/runtime/trust/configured-grants.js";
import { diskApprovals } from "../../.build/runtime/trust/approvals/disk-approvals.js";
import { createPolicies } from "../../.build/runtime/trust/policy/open-policies.js";
import { projectOf } from "../../.build/runtime/trust/project-of.js";
import { repositoryAt } from "../../.build/runtime/trust/project-of.js";
import { Trust } from "../../.build/runtime/trust/personal-trust.js";
import { alternate, summarise, summariseRatio } from "./measure.js";
import { seededRandom } from "./seeded-random.js";

/** @import { Row } from "./report.js" */

const fileCount = 100;
const totalBytes = 10 * 1024 * 1024;
const { signal } = new AbortController();

/**
 * Measures what approvals add to a run of a skill with 100 files and 10 MiB: the decision with a stored grant, and laying out its
 * files while they are hashed.
 * @param {string} folder
 * @returns {Promise<Row[]>}
 */
export async function measureApprovedRuns(folder) {
  const skills = join(folder, "skills");
  const paths = writeSkill(join(skills, "deploy"));
  const log = () => undefined;
  // Later, so that no file counts as one that was just written.
  const now = () => Date.now() + 60_000;
  const [files, bytes] = [diskSkillFiles(), diskSkillBytes({ now })];
  const catalog = new Catalog({ roots: [{ path: skills, origin: "user" }], files, clock: systemClock, log });
  const snapshot = await catalog.ready;
  const hasher = createSkillHasher();
  const source = { files, bytes };
  const caller = /** @type {import("../../.build/runtime/runs/run-caller.js").RunCaller} */ (
    /** @type {unknown} */ ({
      owner: "local",
      transport: "in-process",
      skills: viewSkills(snapshot, undefined),
      sourceOf: () => source,
      signatures: openSignatures(),
      hashFiles: (/** @type {{ directory: string }} */ { directory }, /** @type {AbortSignal} */ abort) =>
        hasher.hash(source, directory, abort),
      project: folder,
      ask: () => Promise.resolve({ answer: "trust" }),
    })
  );
  const trust = new Trust({
    store: diskApprovals(join(folder, "approved"), { log, now }),
    policyFor: createPolicies({ given: undefined, home: folder, log }).policyFor,
    projectOf: (directory, worktrees) => projectOf(directory, worktrees, folder),
    repositoryAt,
    configured: new ConfiguredGrants([]),
    who: "ada",
    clock: systemClock,
    now,
    record: log,
    log,
  });
  const spec = await planSkillRun({ runId: "run_0000000000", caller, signal }, { name: "deploy" });
  const check = async () => {
    await authorize(spec, { ...caller, ask: undefined }, { trust, signal, once: new Set() });
  };
  await authorize(spec, caller, { trust, signal, once: new Set() });

  const [version] = spec.mounts;
  if (version === undefined) throw new Error("Nothing is mounted.");
  const mount = await findMount(version, caller, signal);
  let laid = 0;
  const layOut = async () => {
    const directory = makePrivateDirectory(join(folder, `laid-${++laid}`), undefined, []);
    const milliseconds = await timeOf(() => layFiles(directory, [toMountedSkill(source, mount)], []));
    await directory.remove();
    return milliseconds;
  };
  const copy = async () => {
    const directory = makePrivateDirectory(join(folder, `laid-${++laid}`), undefined, []);
    const target = join(directory.skills, "deploy");
    const milliseconds = await timeOf(() => {
      for (const path of ["", "code", "assets"]) mkdirSync(join(target, path));
      for (const path of paths) copyFileSync(join(skills, "deploy", path), join(target, path), constants.COPYFILE_EXCL);
    });
    await directory.remove();
    return milliseconds;
  };
  const times = await alternate({ check: () => timeOf(check), layOut, copy }, { check: 200, layOut: 20, copy: 20 });
  const ratio = summariseRatio(times.layOut, times.copy);
  return [
    {
      what: "authorizing a run of a skill of 100 files with a stored grant",
      unit: "ms",
      ours: summarise(times.check),
      target: "≤ 1 ms",
      holds: summarise(times.check).median <= 1,
    },
    {
      what: "laying out and hashing 100 files, 10 MiB",
      unit: "ms",
      ours: summarise(times.layOut),
      floor: { is: "copying them", value: summarise(times.copy) },
      ratio,
      target: "≤ 1.5 × the floor",
      holds: ratio.median <= 1.5,
    },
  ];
}

/**
 * Milliseconds of a call.
 * @param {() => Promise<unknown> | void} call
 */
async function timeOf(call) {
  const started = performance.now();
  await call();
  return performance.now() - started;
}

/**
 * The paths of its files.
 * @param {string} directory
 */
function writeSkill(directory) {
  for (const path of ["code", "assets"]) mkdirSync(join(directory, path), { recursive: true });
  const manifest = [
    'name = "deploy"\nversion = "1.0.0"\ndescription = "Deploys."\nkind = "action"',
    '[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"',
    '[permissions]\nnetwork = ["https://api.example"]\n',
  ].join("\n");
  const random = seededRandom(1);
  const contents = new Map([
    ["SKILL.md", "---\nname: deploy\ndescription: Deploys.\n---\n"],
    ["skill.toml", manifest],
    ["code/main.py", "def main(args): return args\n"],
  ]);
  const size = Math.floor(totalBytes / (fileCount - contents.size));
  for (const [path, text] of contents) writeFileSync(join(directory, path), text);
  const assets = Array.from({ length: fileCount - contents.size }, (_, index) => `assets/${index}.bin`);
  for (const path of assets)
    writeFileSync(join(directory, path), Buffer.from(Uint8Array.from({ length: size }, () => random() * 256)));
  return [...contents.keys(), ...assets];
}
