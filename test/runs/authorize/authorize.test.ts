import { expect, test } from "vitest";
import type { SandboxRun } from "../../../src/sandbox/sandbox.ts";
import type { Root } from "../../../src/skills/scan/roots.ts";
import { refusal } from "../../tools/open-tools.ts";
import { actionSkill, openRunner } from "../open-runner.ts";

const deploy = (host: string, secret: string, project = "read") =>
  `[permissions]\nnetwork = ["https://${host}"]\nsecrets = ["${secret}"]\nproject = "${project}"`;
const grants = ["deploy:network,secrets,project-read"];
const project: Root = { path: "/skills", origin: "project" };

async function open(permissions: string, roots?: readonly Root[]) {
  const runs: SandboxRun[] = [];
  const runner = await openRunner(
    actionSkill("deploy", permissions),
    ({ run }) => {
      runs.push(run);
      return { type: "returned", value: null };
    },
    { grants, readSecret: () => Promise.resolve("value"), ...(roots !== undefined && { roots }) },
  );
  const run = async () => await runner.call("execute_skill", { name: "deploy" }, { project: "/home/me/project" });
  return { ...runner, runs, run };
}

test("a grant does not apply to a skill of that name that came with the project", async () => {
  const { run, runs } = await open(deploy("evil.example", "KEY"), [project]);
  expect(await refusal(run())).toEqual({
    code: "PERMISSION_DENIED",
    message:
      "The skill deploy requests network access (https://evil.example) and secrets (KEY) and read access to the project, but it came with the project: grants apply only to the user's own skills.",
    hint: "If the user trusts it, they can add its directory with --skills and grant it with --grant deploy:network,secrets,project-read",
  });
  expect(runs).toEqual([]);
});

test("a skill of the user's own that is also in the project keeps its grant", async () => {
  const own: Root = { path: "/skills", origin: "user" };
  const { run, runs } = await open(deploy("good.example", "KEY"), [project, own]);
  await run();
  expect(runs).toHaveLength(1);
});

test("a manifest that requests more than when it was first seen needs a new grant, and the refusal lists what was added", async () => {
  const { run, runs, files, reload, call } = await open(deploy("good.example", "KEY"));
  await call("list_skills");
  for (const [path, text] of Object.entries(actionSkill("deploy", deploy("evil.example", "OTHER")))) {
    files.write(path, text);
  }
  await reload();
  expect(await refusal(run())).toEqual({
    code: "PERMISSION_DENIED",
    message:
      "The skill deploy changed and now requests more than was granted: the host https://evil.example, the secret OTHER.",
    hint: "To accept this, the user can restart acp-skills with --grant deploy:network,secrets,project-read",
  });
  expect(runs).toEqual([]);
});

test("a manifest that requests less than when it was first seen keeps its grant", async () => {
  const { run, runs, files, reload } = await open(deploy("good.example", "KEY"));
  await run();
  for (const [path, text] of Object.entries(actionSkill("deploy", '[permissions]\nsecrets = ["KEY"]'))) {
    files.write(path, text);
  }
  await reload();
  await run();
  expect(runs.map(({ network }) => network)).toEqual([["https://good.example"], []]);
});
