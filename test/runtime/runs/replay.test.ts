import { expect, test, describe } from "vitest";
import type { RunCaller } from "../../../src/runtime/runs/run-caller.ts";
import type { Replay } from "../../../src/runtime/runs/replay.ts";
import type { RunSpec } from "../../../src/runtime/runs/run-spec.ts";
import { refusal } from "../tools/open-tools.ts";
import { type OpenMemoryRun, openMemoryRun } from "./open-memory-run.ts";
import { actionSkill } from "./open-runner.ts";
import type { MemoryScript } from "../sandbox/memory-sandbox.ts";

const { signal } = new AbortController();
const returned = (value: unknown): { type: "returned"; value: never } => ({ type: "returned", value: value as never });
const request = { type: "skill", name: "a.b", args: { x: 1 } } as const;
const code = { type: "code", code: "def main(): pass", entrypoint: "main", args: { x: 1 } } as const;

type Request = Parameters<OpenMemoryRun["runs"]["plan"]>[0];

/** The person at this machine, who replays runs of others. */
const person = { owner: "local", sessionId: undefined, label: undefined };

async function run({ runs, caller }: OpenMemoryRun, asked: Request, by: Partial<RunCaller> = {}): Promise<RunSpec> {
  const asking = { ...caller, ...by };
  const spec = await runs.plan(asked, asking, signal);
  await runs.run(spec, asking, signal);
  return spec;
}

async function replay(
  { runs, caller }: OpenMemoryRun,
  { runId }: RunSpec,
  by: Partial<RunCaller> = {},
): Promise<Replay> {
  return await runs.replay(runId, { ...caller, ...person, ...by }, signal);
}

async function reasons(opened: OpenMemoryRun, spec: RunSpec, by: Partial<RunCaller> = {}): Promise<unknown> {
  const error = (await refusal(replay(opened, spec, by))) as { code: string; message: string };
  expect(error.code).toBe("NOT_EXECUTABLE");
  expect(error.message.startsWith(`The run ${spec.runId} cannot be replayed: `)).toBe(true);
  return error.message.slice(`The run ${spec.runId} cannot be replayed: `.length);
}

describe("a replay", () => {
  test("runs the same program with the same arguments and limits, as a run of its own", async () => {
    const seen: unknown[] = [];
    const opened = await openMemoryRun(actionSkill("a.b"), ({ run }) => {
      seen.push(JSON.parse(JSON.stringify({ ...run, runId: undefined })));
      return returned(run.program);
    });
    const { runs, caller, records } = opened;
    const spec = await runs.plan({ ...request, timeoutMs: 1_234 }, caller, signal);
    await runs.run(spec, caller, signal);
    const again = await replay(opened, spec);
    expect(again).toMatchObject({ same: true, replays: spec.runId, differences: [], asides: [], notes: [] });
    expect(again.result).toMatchObject({ status: "completed", limits_applied: { timeout_ms: 1_234 } });
    expect(again.result.run_id).not.toBe(spec.runId);
    expect(seen[1]).toEqual(seen[0]);
    expect(await records.read(again.result.run_id)).toMatchObject({
      status: "completed",
      spec: { replays: spec.runId, owner: "local", skill: spec.skill },
    });
  });

  test("says what is different, and that logs do not count", async () => {
    let count = 0;
    const opened = await openMemoryRun(actionSkill("a.b"), ({ run, print }) => {
      print(`run ${++count}\n`);
      return returned(run.program.type === "code" ? { count, same: true } : { same: true });
    });
    const different = await replay(opened, await run(opened, code));
    expect(different).toMatchObject({
      same: false,
      differences: [{ where: "output/count", before: "1", after: "2" }],
      asides: [{ where: "logs line 1", before: '"run 1"', after: '"run 2"' }],
    });
    expect(await replay(opened, await run(opened, request))).toMatchObject({
      same: true,
      differences: [],
      asides: [{ where: "logs line 1" }],
    });
  });

  test("compares files and other blobs by their contents, whatever their ids are", async () => {
    let salt = "";
    const opened = await openMemoryRun(actionSkill("a.b"), async ({ createBlob, leave }) => {
      leave("table.csv", `a,b${salt}`);
      return returned({ text: await createBlob("text/plain", "made") });
    });
    const spec = await run(opened, request);
    expect(await replay(opened, spec)).toMatchObject({ same: true, asides: [] });
    salt = ",c";
    const { same, differences } = await replay(opened, spec);
    expect({ same, where: differences.map(({ where }) => where) }).toEqual({
      same: false,
      where: ['file "table.csv"'],
    });
  });

  test("of a failed run is the same if it fails in the same way", async () => {
    let type = "ValueError";
    const opened = await openMemoryRun(actionSkill("a.b"), () => ({
      type: "raised",
      error: { type, message: `at ${Math.random()}` },
    }));
    const spec = await run(opened, request);
    expect(await replay(opened, spec)).toMatchObject({
      same: true,
      asides: [{ where: "summary" }, { where: "message" }],
    });
    type = "KeyError";
    expect((await replay(opened, spec)).differences).toEqual([
      { where: "error/type", before: '"ValueError"', after: '"KeyError"' },
    ]);
  });

  test("of a script compares its exit code and what it printed", async () => {
    let line = "one";
    let exitCode = 0;
    const files = {
      "/skills/words/SKILL.md": "---\nname: words\ndescription: Does words.\n---\n",
      "/skills/words/scripts/say.py": "",
    };
    const opened = await openMemoryRun(files, ({ print }) => {
      print(`${line}\n`);
      print("warning\n", "stderr");
      return { type: "exited", exitCode };
    });
    const spec = await run(opened, {
      type: "skill",
      name: "words",
      script: "scripts/say.py",
      args: { argv: ["--x", "y"], stdin: "in" },
    });
    const same = await replay(opened, spec);
    expect(same.same).toBe(true);
    expect(same.spec.program).toEqual(spec.program);
    line = "two";
    expect((await replay(opened, spec)).differences).toEqual([
      { where: "output/stdout line 1", before: '"one"', after: '"two"' },
    ]);
    exitCode = 3;
    expect((await replay(opened, spec)).differences.map(({ where }) => where)).toEqual(["status", "output", "error"]);
  });

  test("says which secrets and hosts may be others than then", async () => {
    const permissions = '[permissions]\nsecrets = ["KEY"]\nnetwork = ["https://example.org"]';
    const opened = await openMemoryRun(actionSkill("a.b", permissions), () => returned(1), {
      readSecret: () => Promise.resolve("hunter2hunter2"),
    });
    const ask = () => Promise.resolve({ answer: "once" } as const);
    const { notes, same } = await replay(opened, await run(opened, request, { ask }), { ask });
    expect(same).toBe(true);
    expect(notes).toEqual([
      "The values of KEY were read again and may be others than then.",
      "It may connect to https://example.org, whose answers may be others than then.",
    ]);
  });

  test("needs the same approval as any other run", async () => {
    let count = 0;
    const opened = await openMemoryRun(
      actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]'),
      () => returned(++count),
      { readSecret: () => Promise.resolve("hunter2hunter2") },
    );
    const spec = await run(opened, request, { ask: () => Promise.resolve({ answer: "once" }) });
    expect(await refusal(replay(opened, spec))).toMatchObject({ code: "PERMISSION_DENIED" });
    const ask = () => Promise.resolve({ answer: "not-now" } as const);
    expect(await refusal(replay(opened, spec, { ask }))).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(count).toBe(1);
  });

  test("gives a record no more permissions than its skill requests", async () => {
    const seen: unknown[] = [];
    const opened = await openMemoryRun(actionSkill("a.b"), ({ run }) => {
      seen.push([run.network, run.secrets]);
      return returned(1);
    });
    for (const asked of [code, request]) {
      const spec = await run(opened, asked);
      const kept = (await opened.records.read(spec.runId))!;
      const needs = { network: ["https://evil.example"], secrets: ["KEY"], project: "none" } as const;
      opened.records.keep({ ...kept, spec: { ...spec, needs } });
      await replay(opened, spec);
    }
    expect(seen).toEqual([
      [[], {}],
      [[], {}],
      [[], {}],
      [[], {}],
    ]);
  });

  test("reads the blobs of the recorded owner, and stores its own as another one's", async () => {
    const read: string[] = [];
    const opened = await openMemoryRun(actionSkill("a.b"), async ({ run, createBlob }) => {
      for (const blob of run.blobs) for await (const bytes of blob.read()) read.push(Buffer.from(bytes).toString());
      return returned(await createBlob("text/plain", "made"));
    });
    const { blobs } = opened.caller;
    const { id } = await blobs.put("me", "text/plain", Buffer.from("given"));
    const other = await blobs.put("me", "text/plain", Buffer.from("not given"));
    const spec = await run(opened, { ...request, args: { table: id } });
    const again = await replay(opened, spec);
    expect(again.same).toBe(true);
    expect(read).toEqual(["given", "given"]);
    expect(await blobs.stat("local", String(again.result.output))).toMatchObject({ kind: "text/plain" });
    expect(await refusal(blobs.stat("local", id))).toMatchObject({ code: "BLOB_NOT_FOUND" });
    expect(await refusal(blobs.stat("local", other.id))).toMatchObject({ code: "BLOB_NOT_FOUND" });
  });

  test("is cancelled with its signal", async () => {
    let isFirst = true;
    const controller = new AbortController();
    const opened = await openMemoryRun(actionSkill("a.b"), ({ forever }) => {
      if (isFirst) return returned(1);
      queueMicrotask(() => controller.abort(new Error("no longer wanted")));
      return forever();
    });
    const { runId } = await run(opened, request);
    isFirst = false;
    const { runs, caller } = opened;
    await expect(runs.replay(runId, { ...caller, ...person }, controller.signal)).rejects.toThrow("no longer wanted");
  });
});

describe("a replay is refused", () => {
  test("of an unknown run, and of one that has no result", async () => {
    const opened = await openMemoryRun(actionSkill("a.b", '[permissions]\nsecrets = ["KEY"]'), () => returned(1));
    const spec = await opened.runs.plan(request, opened.caller, signal);
    expect(await reasons(opened, spec)).toBe("it is not among the runs of the last 24 hours.");
    await refusal(opened.runs.run(spec, opened.caller, signal));
    expect(await reasons(opened, spec)).toBe(
      "its status is refused (PERMISSION_DENIED), so there is no output to compare with.",
    );
  });

  const changed: Readonly<Record<string, (files: OpenMemoryRun["files"]) => void>> = {
    "one byte": (files) => files.write("/skills/a.b/code/main.py", "def main(args): return argz\n"),
    "a new file": (files) => files.write("/skills/a.b/extra.txt", ""),
    "a removed file": (files) => files.remove("/skills/a.b/code/main.py"),
    "a symbolic link to another file of the skill in the place of a file": (files) => {
      files.remove("/skills/a.b/code/main.py");
      files.link("/skills/a.b/code/main.py", "/skills/a.b/SKILL.md");
    },
  };

  test.each(Object.entries(changed))("if its skill changed: %s", async (_what, change) => {
    let count = 0;
    const opened = await openMemoryRun(actionSkill("a.b"), () => returned(++count));
    const spec = await run(opened, request);
    change(opened.files);
    const digest = spec.skill?.digest.slice(0, "sha256:".length + 12) ?? "";
    expect(await reasons(opened, spec)).toBe(
      `the skill a.b 1.2.0 (${digest}…) is no longer installed: its files changed since.`,
    );
    expect(count).toBe(1);
  });

  test("if a blob that it was given, or that it made, is gone", async () => {
    const opened = await openMemoryRun(actionSkill("a.b"), async ({ createBlob }) =>
      returned(await createBlob("text/plain", "made")),
    );
    const { blobs } = opened.caller;
    const given = await blobs.put("me", "text/plain", Buffer.from("given"));
    const spec = await run(opened, { ...request, inputBlobs: [given.id] });
    const made = String((await opened.records.read(spec.runId))?.result?.output);
    await blobs.remove("me", made);
    expect(await reasons(opened, spec)).toBe(`the blob ${made} of its output is no longer stored.`);
    await blobs.remove("me", given.id);
    expect(await reasons(opened, spec)).toBe(`the blob ${given.id} is no longer stored.`);
  });

  test.each([
    ['project = "read"', "works on the project, whose files are not recorded"],
    ['project = "write"', "works on the project, whose files are not recorded"],
    ['isolation = "none"', "runs without a sandbox, on files of this machine"],
  ])("if its skill has the permission %s", async (permission, why) => {
    const opened = await openMemoryRun(actionSkill("a.b", `[permissions]\n${permission}`), () => returned(1));
    const ask = () => Promise.resolve({ answer: "once" } as const);
    const spec = await run(opened, request, { ask, project: "/" });
    expect(await reasons(opened, spec, { ask, project: "/" })).toBe(`the skill a.b ${why}.`);
  });

  test("if the packages of its skill are others, or gone", async () => {
    let digest: string | undefined = "sha256:11";
    const opened = await openMemoryRun(
      actionSkill("a.b", "", { "code/requirements.txt": "left-pad==1.0\n" }),
      () => returned(1),
      { findPackages: () => Promise.resolve(digest === undefined ? undefined : { directory: "/packages", digest }) },
    );
    const spec = await run(opened, request);
    expect((await replay(opened, spec)).same).toBe(true);
    digest = "sha256:22";
    expect(await reasons(opened, spec)).toBe("the packages of the skill a.b are others than then.");
    digest = undefined;
    expect(await reasons(opened, spec)).toBe("the packages of the skill a.b are no longer installed.");
  });
});

describe("a replay finds a skill by its bytes", () => {
  const [a, b] = ["a.b", "c.d"].map((name) => actionSkill(name)) as [Record<string, string>, Record<string, string>];
  const movedTo = (directory: string, files: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(files).map(([file, text]) => [file.replace(/^\/skills\/[^/]+/, directory), text]),
    );

  /** Runs in one world, and replays in another one that shares its records and blobs. */
  async function replayElsewhere(
    skills: Readonly<Record<string, string>>,
    script: MemoryScript = () => returned(1),
  ): Promise<{ readonly again: Promise<Replay>; readonly spec: RunSpec }> {
    const first = await openMemoryRun({ ...a, ...b }, script);
    const spec = await run(first, request);
    const second = await openMemoryRun(skills, script, { records: first.records, newRunId: () => "run_1111111111" });
    return { again: replay(second, spec, { blobs: first.caller.blobs }), spec };
  }

  test("wherever they lie, whatever modes and neighbours they have", async () => {
    const { again, spec } = await replayElsewhere(movedTo("/skills/deep/below/other", a));
    expect((await again).spec.skill).toEqual(spec.skill);
    expect((await again).same).toBe(true);
  });

  test("beside a skill of the same name with other bytes, which is not run", async () => {
    const evil = { ...a, "/skills/a.b/code/main.py": "def main(args): return evil\n" };
    const seen: string[] = [];
    const { again, spec } = await replayElsewhere(
      { ...movedTo("/skills/1", evil), ...movedTo("/skills/2", a), ...b },
      async ({ run }) => {
        for (const file of run.skills.flatMap(({ files }) => files))
          if (file.path === "code/main.py")
            for await (const bytes of file.read()) seen.push(Buffer.from(bytes).toString());
        return returned(1);
      },
    );
    expect((await again).spec.skill).toEqual(spec.skill);
    expect((await again).same).toBe(true);
    expect(new Set(seen)).toEqual(new Set(["def main(args): return args\n"]));
  });

  test("not if only another skill, or another version, is there", async () => {
    expect(await (await replayElsewhere(b)).again.catch(String)).toMatch(
      /the skill a\.b 1\.2\.0 \(\S+\) is not installed here\.$/,
    );
    const newer = { ...a, "/skills/a.b/skill.toml": (a["/skills/a.b/skill.toml"] ?? "").replace("1.2.0", "1.3.0") };
    expect(await (await replayElsewhere(newer)).again.catch(String)).toMatch(
      /is not installed here; there is 1\.3\.0\.$/,
    );
  });
});

describe("a replay of a run whose code calls skills", () => {
  const skills = {
    ...actionSkill("a.b", '[dependencies]\nskills = ["c.d@^1"]'),
    ...actionSkill("c.d", '[permissions]\nnetwork = ["https://example.org"]'),
  };
  const outer = { ...code, mountSkills: ["a.b"] };
  const ask = () => Promise.resolve({ answer: "once" } as const);
  const nest: MemoryScript = async ({ run, callSkill }) => {
    const [next] = run.brokered;
    return returned(next === undefined ? "leaf" : await callSkill(next, {}).catch((error: unknown) => String(error)));
  };

  test("runs them again, too", async () => {
    const opened = await openMemoryRun(skills, nest);
    const spec = await run(opened, outer, { ask });
    const again = await replay(opened, spec, { ask });
    expect(again).toMatchObject({ same: true, result: { output: "leaf" } });
    expect(again.notes).toEqual(["It may connect to https://example.org, whose answers may be others than then."]);
  });

  test("is refused if one that was called from a called one changed", async () => {
    const opened = await openMemoryRun(skills, nest);
    const spec = await run(opened, outer, { ask });
    opened.files.write("/skills/c.d/code/main.py", "def main(args): return evil\n");
    expect(await reasons(opened, spec, { ask })).toMatch(
      /^the skill c\.d 1\.2\.0 \(\S+\) is no longer installed: its files changed since\.$/,
    );
  });

  test("does not choose another version of a dependency that is there now", async () => {
    const opened = await openMemoryRun(skills, nest);
    const spec = await run(opened, outer, { ask });
    const newer = Object.fromEntries(
      Object.entries(actionSkill("c.d")).map(([file, text]) => [
        file.replace("/skills/c.d/", "/skills/c.d/1.3.0/"),
        text.replace("1.2.0", "1.3.0"),
      ]),
    );
    const older = Object.fromEntries(
      Object.entries(skills).map(([file, text]) => [file.replace("/skills/c.d/", "/skills/c.d/1.2.0/"), text]),
    );
    const second = await openMemoryRun({ ...older, ...newer }, nest, {
      records: opened.records,
      newRunId: (() => {
        let count = 0;
        return () => `run_2${String(++count).padStart(9, "0")}`;
      })(),
    });
    expect(second.caller.skills.find("c.d").skill.version).toBe("1.3.0");
    const again = await replay(second, spec, { ask, blobs: opened.caller.blobs });
    expect(again.same).toBe(true);
    const leaves: (string | undefined)[] = [];
    for await (const { spec } of opened.records.list()) if (spec.skill?.name === "c.d") leaves.push(spec.skill.version);
    expect(leaves).toEqual(["1.2.0", "1.2.0"]);
  });
});
