import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProcess } from "../cli/run-cli.ts";
import { clusterFault } from "../cluster/modern-node.ts";
import { type OpenCluster, openMembers } from "../cluster/open-members.ts";
import { writeSkill } from "./playground.ts";
import { claude } from "./real-agents.ts";
import { openRunning } from "./running-agent.ts";

describe.skipIf(clusterFault())("claude's model, as a member of a cluster", () => {
  let cluster: OpenCluster;
  let worker: string;
  beforeAll(async () => {
    cluster = await openMembers();
    ({ id: worker } = await cluster.openWorker());
  }, 60_000);
  afterAll(async () => await cluster.close());

  test("runs code and actions on a worker, and has a skill that is published during the session", async () => {
    const { playground, model, editor, sessionId } = await openRunning(claude, ["--cluster", cluster.url]);
    model.plan([
      { tool: "create_blob", input: { content: "hello", kind: "text/plain" } },
      {
        tool: "execute_skill",
        input: ([made = ""]) => ({ name: "text.shout", args: { text: /blob:\w+/.exec(made)?.[0] } }),
      },
      {
        tool: "run_code",
        input: { language: "python", code: 'def main(args):\n    return args["n"] * 2\n', args: { n: 21 } },
      },
    ]);
    expect(await editor.prompt(sessionId, "Run them.")).toBe("end_turn");
    const [, shouted, doubled] = model.results.map((result) => JSON.parse(result) as object);
    expect(shouted).toMatchObject({ status: "completed", logs_preview: "listening\nshouting\n" });
    expect(doubled).toMatchObject({ status: "completed", output: 42 });
    const runs = await cluster.database.query("select status, worker from acp_skills.runs where placed");
    expect(runs).toEqual([
      { status: "completed", worker },
      { status: "completed", worker },
    ]);

    await writeSkill(playground.home, { name: "late-notes", description: "Notes.", instructions: "Write notes." });
    const directory = path.join(playground.home, "late-notes");
    const published = await runProcess(["publish", "--cluster", cluster.url, directory], { cwd: playground.home });
    expect(published.code, published.stderr).toBe(0);
    await editor.until("the published skill", () =>
      editor.commands(sessionId).some(({ name }) => name === "late-notes"),
    );
    model.plan([{ tool: "read_skill_file", input: { name: "late-notes", path: "SKILL.md" } }]);
    await editor.prompt(sessionId, "Read it.");
    expect(model.results[0]).toContain("Write notes.");
  });
});
