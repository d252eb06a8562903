import { describe, expect, test } from "vitest";
import type { StartedRun } from "../../src/runtime/runs.ts";
import { type RunSpec, runSpec } from "../../src/runtime/runs/run-spec.ts";
import type { SandboxRun } from "../../src/runtime/sandbox.ts";
import type { Policy } from "../../src/runtime/trust/policy.ts";
import { refusal } from "./tools/open-tools.ts";
import { openMemoryRun } from "./runs/open-memory-run.ts";
import { actionSkill } from "./runs/open-runner.ts";

const { signal } = new AbortController();
const returned = { type: "returned", value: "done" } as const;
const request = { type: "skill", name: "a.b", args: { x: 1 } } as const;
/** As an organisation that approved everything beforehand. */
const allowsAll: Partial<Policy> = {
  grants: () => ({
    capabilities: { network: [], secrets: ["KEY"], project: "write", tools: [] },
    file: "/etc/acp-skills/acp-skills.policy.json",
    rule: "grants[0]",
  }),
};
const main = "/skills/a.b/code/main.py";

async function contentOf({ skills }: SandboxRun): Promise<Record<string, string>> {
  const content: Record<string, string> = {};
  for (const file of skills.flatMap(({ files }) => files)) {
    for await (const bytes of file.read()) content[file.path] = Buffer.from(bytes).toString();
  }
  return content;
}

describe("a run spec", () => {
  test("runs the same after it was written as JSON and read back, with a caller who has not planned it", async () => {
    const seen: Record<string, string>[] = [];
    const open = async () =>
      await openMemoryRun(actionSkill("a.b"), async ({ run }) => {
        seen.push(await contentOf(run));
        return { type: "returned", value: run.program as never };
      });
    const [planned, other] = [await open(), await open()];
    const spec = await planned.runs.plan(request, planned.caller, signal);
    const result = await planned.runs.run(spec, planned.caller, signal);
    const again = await other.runs.run(runSpec.parse(JSON.parse(JSON.stringify(spec))), other.caller, signal);
    expect(again).toEqual(result);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]?.["code/main.py"]).toBe("def main(args): return args\n");
  });

  test("holds names of secrets, and no values", async () => {
    const secret = '[permissions]\nsecrets = ["KEY"]';
    const { runs, caller, records } = await openMemoryRun(
      actionSkill("a.b", secret),
      ({ run, print }) => {
        print(`${run.secrets["KEY"] ?? ""}\n`);
        return { type: "returned", value: run.secrets["KEY"] ?? null };
      },
      { policy: allowsAll, readSecret: () => Promise.resolve("hunter2hunter2") },
    );
    const spec = await runs.plan(request, caller, signal);
    await runs.run(spec, caller, signal);
    const kept = JSON.stringify(await records.read(spec.runId));
    expect(spec.needs.secrets).toEqual(["KEY"]);
    expect(kept).toContain("KEY");
    expect(kept).not.toContain("hunter2");
  });
});

describe("the start of a run that goes beyond its sandbox", () => {
  const wants = '[permissions]\nsecrets = ["KEY"]';
  const open = async (extra: string, fault?: string) => {
    const recorded: unknown[] = [];
    const atStart: (readonly unknown[])[] = [];
    const recordStart = ({ spec, by }: StartedRun) => (recorded.push([spec.runId, by]), Promise.resolve(fault));
    const readSecret = (): Promise<string> => Promise.resolve("hunter2hunter2");
    const script = (): typeof returned => (atStart.push([...recorded]), returned);
    const more = { policy: allowsAll, readSecret, recordStart };
    const opened = await openMemoryRun(actionSkill("a.b", extra), script, more);
    const spec = await opened.runs.plan(request, opened.caller, signal);
    return { atStart, spec, run: opened.runs.run(spec, opened.caller, signal) };
  };

  test("is recorded when its code begins, with what allows it", async () => {
    const { atStart, spec, run } = await open(wants);
    await run;
    expect(atStart).toEqual([[[spec.runId, "policy /etc/acp-skills/acp-skills.policy.json grants[0]"]]]);
  });

  test("is refused while the ledger cannot be written, with the reason", async () => {
    const { atStart, run } = await open(wants, "ENOSPC");
    expect(await refusal(run)).toMatchObject({
      code: "PERMISSION_DENIED",
      message:
        "The skill a.b was not run: it goes beyond its sandbox, and that cannot be recorded in the ledger (ENOSPC).",
    });
    expect(atStart).toEqual([]);
  });

  test("is not needed where it stays inside", async () => {
    const { atStart, run } = await open("", "ENOSPC");
    await run;
    expect(atStart).toEqual([[]]);
  });
});

describe("a skill that changed between planning and execution", () => {
  const changes: Record<
    string,
    (files: { write(path: string, text: string): void; remove(path: string): void }) => void
  > = {
    "a file with another content of the same length": (files) => files.write(main, "def main(args): return evil\n"),
    "a file that was removed": (files) => files.remove(main),
    "a longer file": (files) => files.write(main, "import evil\ndef main(args): return args\n"),
  };

  test.each(Object.entries(changes))("does not run: %s", async (_what, change) => {
    let started = false;
    const { runs, caller, files } = await openMemoryRun(actionSkill("a.b"), () => {
      started = true;
      return returned;
    });
    const spec = await runs.plan(request, caller, signal);
    change(files);
    const error = { code: "SKILL_NOT_READY", retryable: true, hint: "Try again." };
    expect(await refusal(runs.run(spec, caller, signal))).toMatchObject(error);
    const readBack = runSpec.parse(JSON.parse(JSON.stringify(spec)));
    expect(await refusal(runs.run(readBack, caller, signal))).toMatchObject(error);
    expect(started).toBe(false);
  });

  test("runs the planned bytes only, where a file was added", async () => {
    let content: Record<string, string> = {};
    const { runs, caller, files } = await openMemoryRun(actionSkill("a.b"), async ({ run }) => {
      content = await contentOf(run);
      return returned;
    });
    const spec = await runs.plan(request, caller, signal);
    files.write("/skills/a.b/code/extra.py", "evil\n");
    await runs.run(spec, caller, signal);
    expect(Object.keys(content)).toEqual(["SKILL.md", "code/main.py", "skill.toml"]);
  });
});

test("code calls only exactly the skill that its run was planned with", async () => {
  const code = { type: "code", code: "", entrypoint: "main", mountSkills: ["a.b"] } as const;
  const opened = await openMemoryRun(
    { ...actionSkill("a.b", '[dependencies]\nskills = ["c.d"]'), ...actionSkill("c.d") },
    async ({ run, callSkill }) => {
      if (run.program.type !== "code") return returned;
      opened.files.write(main, "def main(args): return evil\n");
      const failure = await callSkill("a.b", {}).catch((error: unknown) => error);
      return { type: "returned", value: (failure as Error).message };
    },
  );
  const { runs, caller } = opened;
  const spec = await runs.plan(code, caller, signal);
  expect(spec.brokered).toMatchObject([{ name: "a.b", digest: expect.stringMatching(/^sha256:/) as string }]);
  expect(await runs.run(spec, caller, signal)).toMatchObject({
    status: "completed",
    output: "The skill a.b changed before it ran.",
  });
});

describe("a run reports by events", () => {
  test("that it was queued and started, what it printed and stored, and that it ended", async () => {
    const { runs, caller, events } = await openMemoryRun(actionSkill("a.b"), async ({ print, createBlob }) => {
      print("one\ntwo\n");
      await createBlob("text/plain", "abc");
      return returned;
    });
    const spec = await runs.plan(request, caller, signal);
    await runs.run(spec, caller, signal);
    const { runId } = spec;
    expect(events).toEqual([
      { runId, type: "queued", behind: 0, skill: "a.b" },
      { runId, type: "started", isolation: "memory", by: "sandbox" },
      { runId, type: "printed", text: "one\ntwo\n" },
      { runId, type: "blob_kept", blobId: expect.stringMatching(/^blob:/) as string, kind: "text/plain", sizeBytes: 3 },
      { runId, type: "ended", status: "completed" },
    ]);
  });

  test("of a skill that its code calls, with a run id of that run, also where that is refused", async () => {
    const skills = { ...actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]') };
    const code = { type: "code", code: "", entrypoint: "main", mountSkills: ["a.b"] } as const;
    const open = async (policy: Partial<Policy>) =>
      await openMemoryRun(
        skills,
        async ({ run, callSkill, print }) => {
          print(`${run.runId}\n`);
          if (run.program.type === "code") await callSkill("a.b", {}).catch(() => undefined);
          return returned;
        },
        { policy, readSecret: () => Promise.resolve("hunter2hunter2") },
      );
    const { runs, caller, events, records } = await open(allowsAll);
    const outer = await runs.plan(code, caller, signal);
    await runs.run(outer, caller, signal);
    const called = events.find((event) => event.type === "skill_called");
    expect(called).toMatchObject({ runId: outer.runId, skill: "a.b", version: "1.2.0" });
    const runId = called?.calledRunId ?? "";
    expect(events.filter((event) => event.runId === runId).map(({ type }) => type)).toEqual([
      "started",
      "printed",
      "ended",
    ]);
    expect(await records.read(runId)).toMatchObject({ spec: { parent: outer.runId }, status: "completed" });
    const refused = await open({});
    await refused.runs.run(await refused.runs.plan(code, refused.caller, signal), refused.caller, signal);
    expect(refused.events.filter(({ type }) => type === "ended")).toMatchObject([
      { status: "refused" },
      { status: "completed" },
    ]);
  });
});

describe("a run that waits for another one", () => {
  const secret = actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]');
  const options = { concurrency: 1, policy: allowsAll };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test("says so, is in the run store as queued and then as running, and its secrets are read when its turn comes", async () => {
    const ends: (() => void)[] = [];
    const read: string[] = [];
    const { runs, caller, events, records } = await openMemoryRun(
      secret,
      ({ run }) => new Promise((resolve) => ends.push(() => resolve({ type: "returned", value: run.runId }))),
      {
        ...options,
        readSecret: (name) => {
          read.push(name);
          return Promise.resolve("hunter2hunter2");
        },
      },
    );
    const [first, second] = [await runs.plan(request, caller, signal), await runs.plan(request, caller, signal)];
    const statusOf = async ({ runId }: RunSpec) => (await records.read(runId))?.status;
    const running = runs.run(first, caller, signal);
    const waiting = runs.run(second, caller, signal);
    await expect.poll(() => ends.length).toBe(1);
    await turn();
    expect(read).toEqual(["KEY"]);
    expect(events.filter(({ type }) => type === "queued" || type === "started")).toEqual([
      { runId: first.runId, type: "queued", behind: 0, skill: "a.b" },
      { runId: second.runId, type: "queued", behind: 1, skill: "a.b" },
      { runId: first.runId, type: "started", isolation: "memory", by: expect.stringMatching(/^policy /) as string },
    ]);
    expect([await statusOf(first), await statusOf(second)]).toEqual(["running", "queued"]);
    ends[0]?.();
    await running;
    await expect.poll(() => ends.length).toBe(2);
    expect(read).toEqual(["KEY", "KEY"]);
    expect([await statusOf(first), await statusOf(second)]).toEqual(["completed", "running"]);
    ends[1]?.();
    await waiting;
    expect(await statusOf(second)).toBe("completed");
  });

  test("is refused at once where it is not permitted", async () => {
    const { runs, caller } = await openMemoryRun(secret, ({ forever }) => forever(), { concurrency: 1 });
    const controller = new AbortController();
    const code = { type: "code", code: "", entrypoint: "main" } as const;
    const running = runs.run(await runs.plan(code, caller, signal), caller, controller.signal);
    const spec = await runs.plan(request, caller, signal);
    expect(await refusal(runs.run(spec, caller, signal))).toMatchObject({ code: "PERMISSION_DENIED" });
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
  });
});

describe("the record of a run", () => {
  test("has its spec, its events without what was printed, and its result", async () => {
    const { runs, caller, records } = await openMemoryRun(actionSkill("a.b"), ({ print }) => {
      print("hello\n");
      return { type: "raised", error: { type: "ValueError", message: "no" } };
    });
    const spec = await runs.plan(request, caller, signal);
    const result = await runs.run(spec, caller, signal);
    expect(await records.read(spec.runId)).toEqual({
      spec,
      createdAt: 0,
      status: "failed",
      events: [
        { atMs: 0, type: "queued", behind: 0, skill: "a.b" },
        { atMs: 0, type: "started", isolation: "memory", by: "sandbox" },
        { atMs: 0, type: "ended", status: "failed" },
      ],
      result,
    });
  });

  test("says why a run was refused, and that one was cancelled", async () => {
    const permissions = '[permissions]\nnetwork = ["https://example.org"]';
    const refused = await openMemoryRun(actionSkill("a.b", permissions), () => returned);
    const spec = await refused.runs.plan(request, refused.caller, signal);
    await refusal(refused.runs.run(spec, refused.caller, signal));
    expect(await refused.records.read(spec.runId)).toMatchObject({
      status: "refused",
      error: { code: "PERMISSION_DENIED" },
    });
    const controller = new AbortController();
    const cancelled = await openMemoryRun(actionSkill("a.b"), ({ forever }) => {
      controller.abort(new Error("gone"));
      return forever();
    });
    const second = await cancelled.runs.plan(request, cancelled.caller, controller.signal);
    await expect(cancelled.runs.run(second, cancelled.caller, controller.signal)).rejects.toThrow("gone");
    expect(await cancelled.records.read(second.runId)).toMatchObject({ status: "cancelled" });
  });
});
