import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.directory });

test("the command that approves a skill of a share works as it is printed, without the token and without asking the share", async () => {
  const { origin, publish, close } = await openPublisher();
  const alpha = { "SKILL.md": skillText("alpha"), "scripts/run.py": "print(1)\n" };
  await publish({ alpha }, "/s/T0ken_x-1/");
  const share = ["--source", `${origin}/s/T0ken_x-1/`];
  const refused = await cli("run", "alpha", "--script", "scripts/run.py", ...share);
  expect(refused.code).toBe(3);
  expect(refused.stderr).not.toContain("T0ken");
  const [, command = ""] = /with: acp-skills (approvals grant \S+ --source '\S+\/s\/…\/')$/m.exec(refused.stderr) ?? [];
  await close();
  const granted = await cli(...command.replaceAll("'", "").split(" "));
  expect(granted).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`alpha 0.0.0 (`) as string,
  });
  expect(granted.stderr).toContain(`from "${origin}/s/…/"`);
  const other = await cli("approvals", "grant", `alpha@sha256:${"0".repeat(64)}`, "--source", `${origin}/s/…/`);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("where its secret part was") as string });
});
