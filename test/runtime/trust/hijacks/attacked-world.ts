import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import type { Sandbox, SandboxRun } from "../../../../src/runtime/sandbox.ts";
import { Catalog } from "../../../../src/skills/skillset/catalog.ts";
import { createSkillHasher } from "../../../../src/skills/hash.ts";
import type { Root } from "../../../../src/skills/skillset/roots.ts";
import { Runs } from "../../../../src/runtime/runs.ts";
import { Toolbox } from "../../../../src/runtime/tools/toolbox.ts";
import type { ToolCaller } from "../../../../src/runtime/tools/tool.ts";
import type { Policy } from "../../../../src/runtime/trust/policy.ts";
import type { Answer, Question } from "../../../../src/runtime/question.ts";
import { memoryBlobs } from "../../blobs/memory-blobs.ts";
import { manualClock } from "../../../manual-clock.ts";
import { memoryRunStore } from "../../runs/memory-run-store.ts";
import { memorySandbox } from "../../sandbox/memory-sandbox.ts";
import { type MemorySkillFiles, memorySkillBytes, memorySkillFiles } from "../../../skills/files/memory-skill-files.ts";
import { openTrust } from "../open-trust.ts";
import { defaultToolLimits } from "../../../../src/runtime/blobs/blob-rules.ts";

export const ownRoot = "/home/.agents/skills";
export const projectRoot = "/work/shop/.agents/skills";

/** The last root is what a session adds: it comes first, and is the project's, too. */
const roots: readonly Root[] = [
  { path: projectRoot, origin: "project" },
  { path: "/work/added/.agents/skills", origin: "project" },
  { path: ownRoot, origin: "user" },
];

/** When something happens during a call; each is before the next one. */
export const moments = ["planned", "asked", "authorized", "queued", "prepared", "reading"] as const;

export type Moment = (typeof moments)[number];

/** What was handed to a sandbox, byte by byte, and with which rights. */
export interface Executed {
  readonly name: string;
  /** Texts by path; those of other mounted skills begin with their number. */
  readonly files: Readonly<Record<string, string>>;
  readonly entry: string | undefined;
  readonly script: string | undefined;
  readonly network: readonly string[];
  readonly secrets: readonly string[];
  readonly isolation: string;
}

export interface AttackedWorld {
  readonly files: MemorySkillFiles;
  readonly executed: Executed[];
  readonly asked: Question[];
  /** Of the person, from now on. */
  answer: Answer;
  /** Milliseconds since 1970. */
  time: number;
  /** Called once, at that moment. */
  interfere: { readonly at: Moment; readonly act: () => void } | undefined;
  /** Reads the skills again, as after an event of the watcher. */
  notice(): Promise<unknown>;
  /** True if it completed; a refusal is not an error here. */
  run(name: string, script?: string): Promise<boolean>;
  grant: { readonly digestOf: (name: string) => Promise<string> };
}

/** Skills in memory, a person, and a sandbox that records exactly what it is handed. */
export async function openAttackedWorld(
  skills: Readonly<Record<string, string>>,
  {
    grants = [],
    policy = {},
    calls = {},
  }: {
    readonly grants?: readonly string[];
    readonly policy?: Partial<Policy>;
    /** Which skill the code of a skill calls. */
    readonly calls?: Readonly<Record<string, string>>;
  },
): Promise<AttackedWorld> {
  const files = memorySkillFiles(skills);
  for (const { path } of roots) files.makeDirectory(path);
  const clock = manualClock();
  const { trust, configured } = openTrust({ grants, policy, now: () => world.time });
  const at = (moment: Moment): void => {
    const { interfere } = world;
    if (interfere?.at !== moment) return;
    world.interfere = undefined;
    interfere.act();
  };
  const recording = (tier: "memory" | "none"): Sandbox => {
    const contents = new WeakMap<SandboxRun, Record<string, string>>();
    const inner = memorySandbox(
      async ({ run, callSkill }) => {
        const [own] = run.skills;
        const { program } = run;
        const name = program.type === "code" ? "" : program.skill;
        world.executed.push({
          name,
          files: contents.get(run) ?? {},
          entry: program.type === "skill" ? own?.entry?.file : undefined,
          script: program.type === "script" ? program.file : undefined,
          network: run.network,
          secrets: Object.keys(run.secrets),
          isolation: tier,
        });
        const called = calls[name];
        return { type: "returned", value: called === undefined ? null : await callSkill(called, {}) };
      },
      { clock, tier },
    );
    return {
      tier: inner.tier,
      lacks: inner.lacks,
      close: () => inner.close(),
      refuses(run) {
        at("prepared");
        return inner.refuses(run);
      },
      run(run, host, signal) {
        const read: Record<string, string> = {};
        let count = 0;
        const skillsOfRun = run.skills.map((skill, number) => ({
          ...skill,
          files: skill.files.map((file) => ({
            ...file,
            async *read() {
              if (++count === 2) at("reading");
              const chunks: Uint8Array[] = [];
              for await (const chunk of file.read()) chunks.push(chunk);
              const bytes = Buffer.concat(chunks);
              read[number === 0 ? file.path : `${number}:${file.path}`] = bytes.toString();
              yield bytes;
            },
          })),
        }));
        const seen = { ...run, skills: skillsOfRun };
        contents.set(seen, read);
        return inner.run(seen, host, signal);
      },
    };
  };
  const [inside, outside] = [recording("memory"), recording("none")];
  let count = 0;
  const runs = new Runs({
    recordStart: () => Promise.resolve(undefined),
    recordSent: () => undefined,
    openRequests: () => Promise.reject(new Error("No secret is sent in this test.")),
    sandbox: () => Promise.resolve(inside),
    withoutSandbox: () => Promise.resolve(outside),
    trust: {
      policyFor: (directory) => trust.policyFor(directory),
      decide: (...given) => trust.decide(...given),
      questionFor: (...given) => trust.questionFor(...given),
      blockersOf: (...given) => trust.blockersOf(...given),
      async authorize(...given) {
        at("planned");
        const authorization = await trust.authorize(...given);
        at("authorized");
        return authorization;
      },
    },
    configured,
    records: memoryRunStore(),
    now: () => clock.now(),
    readSecret: () => Promise.resolve("value"),
    refuseProject: () => undefined,
    findPackages: () => Promise.resolve(undefined),
    invoke: () => Promise.reject(new Error("Nothing is invoked in this test.")),
    clock,
    concurrency: 4,
    maxWaiting: 8,
    newRunId: () => `run_${String(++count).padStart(10, "0")}`,
  });
  const toolbox = new Toolbox({
    blobs: memoryBlobs(),
    source: { files, bytes: memorySkillBytes(files) },
    hasher: createSkillHasher(),
    log: silentLog,
    trust,
    runs,
    limits: defaultToolLimits,
  });
  const catalog = new Catalog({ roots, files, clock: systemClock, log: silentLog });
  await catalog.ready;
  const caller: ToolCaller = {
    owner: "session:1",
    transport: "mcp",
    sessionId: "s1",
    project: "/work/shop",
    skills: catalog,
    ask(question) {
      world.asked.push(question);
      const { answer } = world;
      at("asked");
      return Promise.resolve({ answer });
    },
    onEvent({ type }) {
      if (type === "queued") at("queued");
    },
  };
  const world: AttackedWorld = {
    files,
    executed: [],
    asked: [],
    answer: "trust",
    time: Date.UTC(2026, 0, 1),
    interfere: undefined,
    notice: () => catalog.reload(),
    async run(name, script) {
      try {
        const given = { name, ...(script !== undefined && { script }) };
        const result = (await toolbox.call("execute_skill", given, caller)) as { status: string };
        return result.status === "completed";
      } catch {
        return false;
      }
    },
    grant: {
      async digestOf(name) {
        const described = await toolbox.call("describe_skill", { name }, { ...caller, transport: "cli" });
        return (described as { skill: { digest: string } }).skill.digest;
      },
    },
  };
  return world;
}
