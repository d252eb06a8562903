import { describe, expect, test } from "vitest";
import { failureHint, projectHint } from "../../../../src/runtime/runs/record/to-run-failure.ts";
import { actionSkill, openRunner } from "../open-runner.ts";

const writable = { project: { directory: "/home/me/project", writable: true } };

describe("the hint for a refused path in a writable project", () => {
  test.each([
    ["a new file, by Python", "[Errno 13] Permission denied: '/project/new.txt'"],
    ["a file that is moved, by Python", "[Errno 18] Invalid cross-device link: '/project/a/x' -> '/project/x'"],
    ["a new file, by a shell", "/skills/a/run.sh: line 1: /project/new.txt: Permission denied"],
    ["a new directory, by mkdir", "mkdir: cannot create directory '/project/new': Permission denied"],
    ["a new file, by Node", "Error: EACCES: permission denied, open '/project/new.txt'"],
  ])("is given for %s", (_, told) => {
    expect(projectHint(told, writable)).toMatch(/Write to an existing subdirectory or to \/output\.$/);
  });

  test("is not given for other places, other failures and read-only projects", () => {
    expect(projectHint("[Errno 13] Permission denied: '/etc/shadow'", writable)).toBeUndefined();
    expect(projectHint("[Errno 2] No such file or directory: '/project/new'", writable)).toBeUndefined();
    expect(projectHint("[Errno 13] Permission denied: '/project/new'", {})).toBeUndefined();
  });
});

test("a failed run has the hint, however long its details are", async () => {
  const { call } = await openRunner(
    actionSkill("a.b", '[permissions]\nproject = "write"'),
    () => ({
      type: "raised",
      error: {
        type: "PermissionError",
        message: "[Errno 13] Permission denied: '/project/new.txt'",
        details: { traceback: "x".repeat(10_000) },
      },
    }),
    { grants: ["a.b:project-write"] },
  );
  expect(await call("execute_skill", { name: "a.b" }, { project: "/home/me/project" })).toMatchObject({
    status: "failed",
    error: { details: { hint: expect.stringContaining("/output") as string } },
  });
});

test("a traceback that is too long keeps its first and last lines", async () => {
  const frames = Array.from({ length: 500 }, (_, at) => `  File "main.py", line ${at + 1}, in f\n    "quoted"\n`);
  const traceback = `Traceback (most recent call last):\n${frames.join("")}RecursionError: too deep`;
  const { call } = await openRunner(actionSkill("a.b", ""), () => ({
    type: "raised",
    error: { type: "RecursionError", message: "too deep", details: { traceback, line: 500 } },
  }));
  const run = (await call("execute_skill", { name: "a.b" })) as { error: { details: Record<string, unknown> } };
  expect(run.error.details["line"]).toBe(500);
  expect(run.error.details["traceback"]).toMatch(
    /^Traceback \(most recent call last\):\n[^]* bytes in total …\n[^]*RecursionError: too deep$/,
  );
  expect(Buffer.byteLength(JSON.stringify(run.error.details))).toBeLessThanOrEqual(4096);
});

const code = { program: { type: "code", code: "", entrypoint: "main", args: {} }, network: [] } as const;
const skill = { program: { type: "skill", skill: "rows.clean", args: {} }, network: [] } as const;

describe("the hint of a failed run", () => {
  test("names the requirements file and the command for a missing module of a skill", () => {
    expect(failureHint("ModuleNotFoundError: No module named 'pandas.core'", skill)).toBe(
      "If `pandas` is a package, list it in code/requirements.txt of rows.clean, then run: acp-skills install rows.clean",
    );
  });

  test("informs run_code of what can be imported", () => {
    expect(failureHint("ModuleNotFoundError: No module named 'pandas'", code)).toContain("mount_skills");
    expect(failureHint("ModuleNotFoundError: No module named 'skills.a'", code)).toMatch(
      /^Only skills named in mount_/,
    );
  });

  test.each([
    "URLError: <urlopen error [Errno -2] Name or service not known>",
    "Error: getaddrinfo EAI_AGAIN example.org",
    "curl: (6) Could not resolve host: example.org",
  ])("names the network permission where a run without network reports: %s", (reported) => {
    expect(failureHint(reported, skill)).toMatch(/\[permissions\] network = .* --grant rows\.clean:network\.$/);
    expect(failureHint(reported, code)).toMatch(/^run_code has no network/);
    expect(failureHint(reported, { ...skill, network: ["https://example.org"] })).toBeUndefined();
    expect(failureHint(reported, { ...skill, isolation: "none" })).toBeUndefined();
  });

  test("is absent for anything else", () => {
    expect(failureHint("ValueError: not so", skill)).toBeUndefined();
  });
});
