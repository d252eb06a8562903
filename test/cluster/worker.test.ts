import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OpenCluster, openMembers } from "./open-members.ts";
import { clusterFault } from "./modern-node.ts";

describe.skipIf(clusterFault())("a worker of a cluster", () => {
  let cluster: OpenCluster;
  beforeAll(async () => {
    cluster = await openMembers();
    cluster.writeSkill("add", {
      "SKILL.md": "---\nname: add\ndescription: Adds numbers.\n---\n",
      "skill.toml":
        'name = "add"\nversion = "1.0.0"\ndescription = "Adds numbers."\nkind = "action"\n\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\nexport = "add"\n',
      "code/main.py": "def add(args):\n    print('adding')\n    return {'sum': args['a'] + args['b']}\n",
    });
  }, 60_000);
  afterAll(async () => await cluster.close());
  const code = (text: string) => ({ language: "python", code: text });

  test("executes code that a model sends to a server, and the server passes its events on", async () => {
    const server = await cluster.openServer();
    const worker = await cluster.openWorker();
    const result = await server.app.toolbox.call(
      "run_code",
      code("def main():\n    print('hello')\n    return 42"),
      server.caller,
    );
    expect(result).toMatchObject({ status: "completed", output: 42 });
    expect(server.events.map(({ type }) => type)).toEqual(["queued", "started", "printed", "ended"]);
    await worker.stop();
    await server.close();
  });
});
