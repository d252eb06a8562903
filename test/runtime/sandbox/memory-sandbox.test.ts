import { expect, test, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { type MemoryScript, type MemoryStage, memorySandbox } from "./memory-sandbox.ts";
import type { Json, RunEnd, SandboxRun } from "../../../src/runtime/sandbox.ts";
import { describeSandboxPort } from "../../contract/sandbox-contract.ts";
import { recordingHost } from "../../contract/sandbox/recording-host.ts";
import { codeRun } from "../../contract/sandbox/runs.ts";
import { samples } from "../../contract/sandbox/samples.ts";
import { manualClock } from "../../manual-clock.ts";

const returned = (value: Json): RunEnd => ({ type: "returned", value });
const argsOf = ({ run: { program } }: MemoryStage): Json => (program.type === "script" ? null : program.args);

const meanings: Record<string, MemoryScript> = {
  [samples.echoes]: (stage) => returned(argsOf(stage)),
  [samples.raises]: () => ({ type: "raised", error: { type: "ValueError", message: "this cannot be" } }),
  [samples.printsAndWaits]: (stage) => {
    stage.print("started\n");
    return stage.forever();
  },
  [samples.leavesAndWaits]: (stage) => {
    stage.leave("early.txt", "early");
    stage.print("started\n");
    return stage.forever();
  },
  [samples.printsWithoutEnd]: async (stage) => {
    while (!stage.over.aborted) {
      stage.print("x".repeat(1000));
      await Promise.resolve();
    }
    return stage.forever();
  },
  [samples.keepsBlob]: async (stage) => returned(await stage.createBlob("text/plain", "kept")),
  [samples.leavesFiles]: (stage) => {
    stage.leave("one.txt", "1");
    stage.leave("two.txt", "22");
    return returned("left");
  },
  [samples.callsSkill]: async (stage) => returned(await stage.callSkill("there", argsOf(stage))),
};

describeSandboxPort("the memory tier", {
  tier: "memory",
  open() {
    const script: MemoryScript = (stage) => {
      const { program } = stage.run;
      const meaning = program.type === "code" ? meanings[program.code] : undefined;
      if (meaning === undefined) throw new Error("No such sample.");
      return meaning(stage);
    };
    const refuses = (run: SandboxRun): string | undefined =>
      run.network.length > 0 ? "Nothing is reached from a memory." : undefined;
    return Promise.resolve(memorySandbox(script, { clock: systemClock, refuses }));
  },
  offers: [
    "code",
    "skill",
    "python script",
    "bash script",
    "node script",
    "project",
    "packages",
    "brokered",
    "secrets",
  ],
  processes: false,
  namespaces: false,
});

const signal = new AbortController().signal;

test("the memory tier enforces the timeout by its clock", async () => {
  const clock = manualClock();
  const sandbox = memorySandbox((stage) => stage.forever(), { clock });
  const end = sandbox.run(codeRun("", { limits: { timeoutMs: 1000 } }), recordingHost(), signal);
  await vi.waitUntil(() => clock.pending === 1);
  clock.pass(999);
  expect(clock.pending).toBe(1);
  clock.pass(1);
  expect(await end).toEqual({ type: "limit", limit: "timeout" });
});

test("the memory tier ignores what a script does after its run has ended", async () => {
  const clock = manualClock();
  let late: MemoryStage | undefined;
  const sandbox = memorySandbox(
    (stage) => {
      late = stage;
      return { type: "exited", exitCode: 0 };
    },
    { clock },
  );
  const host = recordingHost();
  expect(await sandbox.run(codeRun(""), host, signal)).toEqual({ type: "exited", exitCode: 0 });
  late?.print("late");
  late?.leave("late", "late");
  void late?.createBlob("a/b", "late");
  void late?.callSkill("late", {});
  expect(host.record.events).toEqual([]);
  expect(late?.over.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});

test("the memory tier reports a script that throws as a crash", async () => {
  const sandbox = memorySandbox(() => Promise.reject(new Error("out of paper")), { clock: manualClock() });
  const end = await sandbox.run(codeRun(""), recordingHost(), signal);
  expect(end).toEqual({ type: "crashed", detail: "Error: out of paper" });
});
