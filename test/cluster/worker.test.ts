import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { openClusterApprovals } from "../../src/cluster/approvals.ts";
import { changeApprovals } from "../../src/runtime/trust/approvals.ts";
import { ConfiguredGrants } from "../../src/runtime/trust.ts";
import { type OpenCluster, type OpenServer, openMembers } from "./open-members.ts";
import { clusterFault } from "./modern-node.ts";

const action = (name: string, more = "", runtime = "", dependencies = ""): Record<string, string> => ({
  "SKILL.md": `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n`,
  "skill.toml": `name = "${name}"\nversion = "1.0.0"\ndescription = "Does ${name}."\nkind = "action"\n\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\nexport = "main"\n${runtime}${dependencies}`,
});

describe.skipIf(clusterFault())("workers of a cluster", () => {
  let cluster: OpenCluster;
  let counted: string[] = [];
  const counter = createServer((request, response) => {
    counted.push(request.url ?? "");
    response.end("ok");
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => counter.listen(0, "127.0.0.1", resolve));
    port = (counter.address() as AddressInfo).port;
    cluster = await openMembers();
    cluster.writeSkill("add", {
      ...action("add"),
      "code/main.py": "def main(args):\n    print('adding')\n    return {'sum': args['a'] + args['b']}\n",
    });
    cluster.writeSkill("twice", {
      ...action("twice", "", "", '\n[dependencies]\nskills = ["counting"]\n'),
      "code/main.py": "from skills.counting import main as count\ndef main(args):\n    return count({})\n",
    });
    cluster.writeSkill("counting", {
      ...action("counting", "", `\n[permissions]\nnetwork = ["http://127.0.0.1:${port}"]\n`),
      "code/main.py": `import time, urllib.request\ndef main(args):\n    urllib.request.urlopen("http://127.0.0.1:${port}/" + args.get("key", "x")).read()\n    time.sleep(args.get("wait", 0))\n    return "counted"\n`,
    });
    cluster.writeSkill("learn", {
      ...action("learn", "metadata:\n  runs-on: gpu\n"),
      "code/main.py": "def main(args):\n    return 1\n",
    });
    cluster.writeSkill("odd", {
      ...action("odd", "metadata:\n  runs-on: 'Not A Label!'\n"),
      "code/main.py": "def main(args):\n    return 1\n",
    });
  }, 60_000);
  afterAll(async () => {
    await cluster.close();
    counter.close();
  });
  afterEach(async () => {
    counted = [];
    await cluster.closeMembers();
  });
  const code = (text: string) => ({ language: "python", code: text });
  const run = async (server: OpenServer, name: string, args: object = {}, signal?: AbortSignal): Promise<unknown> =>
    await server.app.toolbox.call("execute_skill", { name, args }, server.caller, signal);
  const rowsOf = async (status: string) =>
    await cluster.database.query<{ run_id: string }>("select run_id from acp_skills.runs where status = $1", [status]);
  /** A caller from elsewhere with grants of its own. */
  const granted = (...texts: string[]) => ({
    callerName: "ada",
    owner: "http:ada",
    grants: new ConfiguredGrants(texts),
  });
  const digestOf = async (server: OpenServer, name: string): Promise<string> => {
    const { app } = server;
    const { digest } = await app.hasher.hash(app.source, path.join(cluster.skills, name), new AbortController().signal);
    return digest ?? "";
  };

  test("execute code of a model, and the server passes on what it reports", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker();
    const text = "def main():\n    print('hello')\n    return 42";
    const result = await server.app.toolbox.call("run_code", code(text), server.caller);
    expect(result).toMatchObject({ status: "completed", output: 42 });
    expect(server.events.map(({ type }) => type)).toEqual(["queued", "started", "printed", "ended"]);
  });

  test("execute a skill from its stored bytes, and record the run for all members", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker();
    const result = (await run(server, "add", { a: 1, b: 2 })) as { run_id: string };
    expect(result).toMatchObject({ status: "completed", output: { sum: 3 } });
    const other = await cluster.openServer();
    const record = await (await other.app.runRecords()).read(result.run_id);
    expect(record).toMatchObject({
      status: "completed",
      spec: { skill: { name: "add" } },
      result: { output: { sum: 3 } },
    });
    expect(record?.events.map(({ type }) => type)).toEqual(["queued", "started", "ended"]);
  });

  test("store what a run outputs where every server finds it", async () => {
    const [server, other] = [await cluster.openServer(), await cluster.openServer()];
    await cluster.openWorker();
    const text = "def main():\n    open('/output/a.txt', 'w').write('grüße')\n    return 1";
    const { output_blobs: blobs } = (await server.app.toolbox.call("run_code", code(text), server.caller)) as {
      output_blobs: string[];
    };
    expect(blobs).toHaveLength(1);
    const read = await other.app.toolbox.call("read_blob", { blob_id: blobs[0] }, other.caller);
    expect(JSON.stringify(read)).toContain("grüße");
  });

  test("refuse a run whose approval is taken back while it waits, and run it with a new one", async () => {
    const server = await cluster.openServer();
    const digest = await digestOf(server, "counting");
    const store = openClusterApprovals(cluster.database, { log: silentLog });
    const id = "grant_0123456789abcdef";
    await store.change("everywhere", (before) =>
      changeApprovals("everywhere", before, (all) => ({
        ...all,
        grants: [
          {
            id,
            skill: "counting",
            version: "1.0.0",
            digest,
            capabilities: { network: [`http://127.0.0.1:${port}`], secrets: [], project: "none" },
            from: "own",
            who: "ada",
            when: "2026-01-01T00:00:00Z",
            via: "terminal",
          },
        ],
      })),
    );
    const waiting = run(server, "counting");
    await expect.poll(async () => (await rowsOf("queued")).length).toBe(1);
    await store.change("everywhere", (before) => ({ ...before, grants: [] }));
    await cluster.openWorker();
    await expect(waiting).rejects.toMatchObject({ code: "PERMISSION_DENIED", message: /taken back/ });
    expect(counted).toEqual([]);
  });

  test("execute what a caller's own grants allow, and write its start into the ledger with the claim", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker();
    const digest = await digestOf(server, "counting");
    const remote = { ...server, caller: { ...server.caller, ...granted(`counting@${digest}`) } };
    expect(await run(remote, "counting", { key: "granted" })).toMatchObject({ status: "completed" });
    expect(counted).toEqual(["/granted"]);
    const entries: object[] = [];
    for await (const entry of server.app.ledger.read()) entries.push(entry);
    expect(entries).toContainEqual(
      expect.objectContaining({ event: "start", caller: "ada", skill: "counting", outcome: "started" }),
    );
  });

  test("let code of a skill call another one that the caller was granted, and no other", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker();
    const digest = await digestOf(server, "counting");
    const remote = { ...server, caller: { ...server.caller, ...granted(`counting@${digest}`) } };
    expect(await run(remote, "twice")).toMatchObject({ status: "completed", output: "counted" });
    const denied = { ...server, caller: { ...server.caller, ...granted() } };
    expect(await run(denied, "twice")).toMatchObject({ status: "failed" });
    expect(counted).toEqual(["/x"]);
  });

  test("let no code call what the policy of the server's machine denies, which theirs does not have", async () => {
    const policy = path.join(cluster.directory, "policy.json");
    writeFileSync(policy, '{ "hosts": { "deny": ["127.0.0.1"] } }');
    const server = await cluster.openServer({}, policy);
    await cluster.openWorker();
    const digest = await digestOf(server, "counting");
    const remote = { ...server, caller: { ...server.caller, ...granted(`counting@${digest}`) } };
    expect(await run(remote, "twice")).toMatchObject({ status: "failed" });
    expect(counted).toEqual([]);
  });

  test("end a run that its caller cancels, in the queue and while it is executed", async () => {
    const server = await cluster.openServer();
    const endless = { name: "run_code", args: code("import time\ndef main():\n    time.sleep(60)") };
    const first = new AbortController();
    const queued = server.app.toolbox.call(endless.name, endless.args, server.caller, first.signal);
    await expect.poll(async () => (await rowsOf("queued")).length).toBe(1);
    first.abort(new Error("gone"));
    await expect(queued).rejects.toThrow("gone");
    await expect.poll(async () => (await rowsOf("queued")).length).toBe(0);
    await cluster.openWorker();
    const second = new AbortController();
    const running = server.app.toolbox.call(endless.name, endless.args, server.caller, second.signal);
    await expect.poll(() => server.events.some(({ type }) => type === "started")).toBe(true);
    second.abort(new Error("gone again"));
    await expect(running).rejects.toThrow("gone again");
    await expect.poll(async () => (await rowsOf("running")).length).toBe(0);
    expect(await rowsOf("cancelled")).toHaveLength(2);
  });

  test("take only runs whose labels they have", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker();
    await expect(run(server, "learn")).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: "No worker of the cluster has the labels gpu.",
    });
    const gpu = await cluster.openWorker({ labels: ["gpu"] });
    const result = (await run(server, "learn")) as { run_id: string };
    const [row] = await cluster.database.query("select worker from acp_skills.runs where run_id = $1", [result.run_id]);
    expect(row).toEqual({ worker: gpu.id });
    await expect(run(server, "odd")).rejects.toMatchObject({ code: "NOT_EXECUTABLE" });
  });

  test("execute a run again whose worker is gone, but not one that had effects", async () => {
    const server = await cluster.openServer();
    const digest = await digestOf(server, "counting");
    const remote = { ...server, caller: { ...server.caller, ...granted(`counting@${digest}`) } };
    // Claimed by a worker that never comes back.
    const lose = async (runs: number): Promise<void> => {
      await expect.poll(async () => (await rowsOf("queued")).length).toBe(runs);
      await cluster.database.query(
        `update acp_skills.runs set status = 'running', fence = fence + 1, worker = gen_random_uuid(),
           lease_until = now() - interval '1 second' where status = 'queued'`,
      );
    };
    const harmless = server.app.toolbox.call("run_code", code("def main():\n    return 7"), server.caller);
    const harmful = run(remote, "counting");
    harmful.catch(() => undefined);
    await lose(2);
    await cluster.openWorker();
    expect(await harmless).toMatchObject({ status: "completed", output: 7 });
    await expect(harmful).rejects.toThrow(/Internal error/);
    expect(await rowsOf("interrupted")).toHaveLength(1);
    expect(counted).toEqual([]);
  });

  test("give up a run that ended three workers", async () => {
    const server = await cluster.openServer();
    const lost = server.app.toolbox.call("run_code", code("def main():\n    return 8"), server.caller);
    lost.catch(() => undefined);
    await expect.poll(async () => (await rowsOf("queued")).length).toBe(1);
    await cluster.database.query(
      "update acp_skills.runs set status = 'running', fence = 3, lease_until = now() - interval '1 second' where status = 'queued'",
    );
    await cluster.openWorker();
    await expect(lost).rejects.toThrow(/Internal error/);
  });

  test("hand back what they execute when they end before it does", async () => {
    const server = await cluster.openServer();
    const first = await cluster.openWorker({ drainMs: 0 });
    const slow = server.app.toolbox.call(
      "run_code",
      code("import time\ndef main():\n    time.sleep(1.5)\n    return 9"),
      server.caller,
    );
    await expect.poll(() => server.events.some(({ type }) => type === "started")).toBe(true);
    await first.stop();
    await cluster.openWorker();
    expect(await slow).toMatchObject({ status: "completed", output: 9 });
  });

  test("go on after the database was away, and so do servers", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker({ leaseMs: 20_000 });
    const running = server.app.toolbox.call(
      "run_code",
      code("import time\ndef main():\n    time.sleep(1)\n    return 10"),
      server.caller,
    );
    await expect.poll(() => server.events.some(({ type }) => type === "started")).toBe(true);
    cluster.postgres.kill();
    const submitted = server.app.toolbox.call("run_code", code("def main():\n    return 11"), server.caller);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await cluster.postgres.start();
    expect(await running).toMatchObject({ status: "completed", output: 10 });
    expect(await submitted).toMatchObject({ status: "completed", output: 11 });
  }, 60_000);

  test("begin while the database is away, as servers do, and work once it is there", async () => {
    cluster.postgres.kill();
    const server = await cluster.openServer();
    const listed = await server.app.toolbox.call("list_skills", {}, server.caller);
    expect(JSON.stringify(listed)).toContain("counting");
    await cluster.openWorker();
    expect(cluster.log.filter((line) => line.includes("What needs it is refused until it can"))).not.toEqual([]);
    await cluster.postgres.start();
    const result = server.app.toolbox.call("run_code", code("def main():\n    return 12"), server.caller);
    expect(await result).toMatchObject({ status: "completed", output: 12 });
  }, 60_000);
});
