import { describe, expect, test } from "vitest";
import { failureHint } from "../../../src/runs/record/failure-hint.ts";

const code = { program: { type: "code", code: "", entrypoint: "main", args: {} }, network: [] } as const;
const skill = { program: { type: "skill", skill: "rows.clean", args: {} }, network: [] } as const;

describe("the hint of a failed run", () => {
  test("names the requirements file and the command for a missing module of a skill", () => {
    expect(failureHint("ModuleNotFoundError: No module named 'pandas.core'", skill)).toBe(
      "If `pandas` is a package, list it in code/requirements.txt of rows.clean, then run: acp-skills install rows.clean",
    );
  });

  test("tells run_code what can be imported", () => {
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
  });

  test("is absent for anything else", () => {
    expect(failureHint("ValueError: not so", skill)).toBeUndefined();
  });
});
