import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identityOf } from "../../../src/base/directory-identity.ts";
import { openProject } from "../../../src/runs/execute/open-project.ts";
import type { Skill } from "../../../src/skills/skill.ts";
import type { SandboxProject } from "../../../src/sandbox/sandbox.ts";

let directory = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "open-project-")));
  for (const name of ["project/tools/skills/deploy", "elsewhere/skills"]) {
    mkdirSync(path.join(directory, name), { recursive: true });
  }
});
afterEach(() => rmSync(directory, { recursive: true }));

const at = (name: string): string => path.join(directory, name);
const skill = { name: "deploy" } as Skill;
const open = (places: readonly string[], writable = true, project = "project"): SandboxProject =>
  openProject(skill, at(project), { ownPlaces: () => places.map(at), writable, projectIdentity: undefined });

describe("the person's own skills", () => {
  test("are kept where they lie in the project, also by a link from elsewhere", () => {
    symlinkSync("../project/tools/skills/deploy", at("elsewhere/deploy"));
    expect(open(["project/tools/skills", "elsewhere/skills"]).kept).toEqual(["tools/skills"]);
    expect(open(["elsewhere/deploy"]).kept).toEqual(["tools/skills/deploy"]);
  });

  test("are kept where their root does not exist yet", () => {
    expect(open(["project/tools/later", "project/none/skills"]).kept).toEqual(["tools/later", "none/skills"]);
  });

  test("are kept as they are spelt, where a link in the project leads to them", () => {
    symlinkSync("tools", at("project/link"));
    symlinkSync("project", at("linked"));
    expect(open(["project/link/skills"]).kept).toEqual(["link/skills", "tools/skills"]);
    expect(open(["linked/tools/skills"], true, "linked").kept).toEqual(["tools/skills"]);
  });

  test.each(["project", ".", "elsewhere/back"])(
    "are not written by way of a project that lies in them: %s",
    (place) => {
      symlinkSync("../project", at("elsewhere/back"));
      expect(() => open([place])).toThrow(
        expect.objectContaining({
          code: "PERMISSION_DENIED",
          facts: { hint: expect.stringContaining("another directory") as string },
        }) as Error,
      );
      expect(open([place], false)).toMatchObject({ writable: false });
    },
  );
});

test("another directory in the place of the project is refused, however it came there", () => {
  const projectIdentity = identityOf(at("project"));
  const run = (): SandboxProject =>
    openProject(skill, at("project"), { ownPlaces: () => [], writable: false, projectIdentity });
  expect(run()).toMatchObject({ identity: projectIdentity });
  renameSync(at("project"), at("before"));
  symlinkSync("elsewhere", at("project"));
  expect(run).toThrow(expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error);
  rmSync(at("project"));
  expect(run).toThrow(expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error);
  symlinkSync("before", at("project"));
  expect(run()).toMatchObject({ identity: projectIdentity });
});
