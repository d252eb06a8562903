import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DirectoryIdentity, directoryIdentityOf } from "../../../../src/base/paths/identity.ts";
import { mountedProjectOf } from "../../../../src/runtime/runs/execute/prepare-run.ts";
import type { SandboxProject } from "../../../../src/runtime/sandbox.ts";

let directory = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "open-project-")));
  for (const name of ["project/tools/skills/deploy", "elsewhere/skills"]) {
    mkdirSync(path.join(directory, name), { recursive: true });
  }
});
afterEach(() => rmSync(directory, { recursive: true }));

const at = (name: string): string => path.join(directory, name);
const skill = { name: "deploy", slug: "deploy", version: "1.0.0", digest: "sha256:0" };
const open = (
  places: readonly string[],
  writable = true,
  project = "project",
  projectIdentity?: DirectoryIdentity,
): SandboxProject | undefined =>
  mountedProjectOf(
    { skill, needs: { network: [], secrets: [], project: writable ? "write" : "read" } },
    { project: at(project), projectIdentity, skills: { ownDirectories: () => places.map(at) } },
    { refuseProject: () => undefined },
  );

describe("the user's own skills", () => {
  test("are read-only in the project, also where a link from elsewhere leads to them", () => {
    symlinkSync("../project/tools/skills/deploy", at("elsewhere/deploy"));
    expect(open(["project/tools/skills", "elsewhere/skills"])?.readOnly).toEqual(["tools/skills"]);
    expect(open(["elsewhere/deploy"])?.readOnly).toEqual(["tools/skills/deploy"]);
  });

  test("are read-only where their root does not exist yet", () => {
    expect(open(["project/tools/later", "project/none/skills"])?.readOnly).toEqual(["tools/later", "none/skills"]);
  });

  test("are read-only by each of their paths, where a link in the project leads to them", () => {
    symlinkSync("tools", at("project/link"));
    symlinkSync("project", at("linked"));
    expect(open(["project/link/skills"])?.readOnly).toEqual(["link/skills", "tools/skills"]);
    expect(open(["linked/tools/skills"], true, "linked")?.readOnly).toEqual(["tools/skills"]);
  });

  test.each(["project", ".", "elsewhere/back"])("are not writable through a project inside of them: %s", (place) => {
    symlinkSync("../project", at("elsewhere/back"));
    expect(() => open([place])).toThrow(
      expect.objectContaining({
        code: "PERMISSION_DENIED",
        facts: { hint: expect.stringContaining("another directory") as string },
      }) as Error,
    );
    expect(open([place], false)).toMatchObject({ writable: false });
  });
});

test("a directory that replaced the project's is refused, however it got there", () => {
  const projectIdentity = directoryIdentityOf(at("project"));
  const run = (): SandboxProject | undefined => open([], false, "project", projectIdentity);
  expect(run()).toMatchObject({ identity: projectIdentity });
  renameSync(at("project"), at("before"));
  symlinkSync("elsewhere", at("project"));
  expect(run).toThrow(expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error);
  rmSync(at("project"));
  expect(run).toThrow(expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error);
  symlinkSync("before", at("project"));
  expect(run()).toMatchObject({ identity: projectIdentity });
});
