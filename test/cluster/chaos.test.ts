import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { openClusterApprovals } from "../../src/cluster/approvals.ts";
import { openClusterBlobs } from "../../src/cluster/blobs.ts";
import { systemClock } from "../../src/base/clock.ts";
import { gather } from "../runtime/blobs/gather.ts";
import { clusterFault } from "./modern-node.ts";
import { type OpenCluster, openMembers } from "./open-members.ts";
import { type KillableMember, openServerProcess, openWorkerProcess, token } from "./chaos/members.ts";

/** The gate asks for more of them. */
const kills = Number(process.env["ACP_SKILLS_KILLS"] ?? 40);
const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

interface Answer {
  readonly result?: {
    readonly status?: string;
    readonly run_id?: string;
    readonly output?: unknown;
    readonly blob_id?: string;
  };
  readonly error?: { readonly message: string; readonly data?: { readonly code?: string } };
}

describe.skipIf(clusterFault())("a cluster whose parts are killed", () => {
  let cluster: OpenCluster;
  const counted = new Map<string, number>();
  const counter = createServer(({ url = "" }, response) => {
    counted.set(url, (counted.get(url) ?? 0) + 1);
    response.end("ok");
  });
  const members: KillableMember[] = [];
  beforeAll(async () => {
    await new Promise<void>((resolve) => counter.listen(0, "127.0.0.1", resolve));
    const { port } = counter.address() as AddressInfo;
    cluster = await openMembers();
    for (const name of ["counting", "gated"])
      cluster.writeSkill(name, {
        "SKILL.md": `---\nname: ${name}\ndescription: Counts.\n---\n`,
        "skill.toml": `name = "${name}"\nversion = "1.0.0"\ndescription = "Counts."\nkind = "action"\n\n[runtime]\nlanguage = "python"\nentrypoint = "main.py"\nexport = "main"\n\n[permissions]\nnetwork = ["http://127.0.0.1:${port}"]\n`,
        "main.py": `import time, urllib.request\ndef main(args):\n    urllib.request.urlopen("http://127.0.0.1:${port}/" + args["key"]).read()\n    time.sleep(0.02)\n    return args["key"]\n`,
      });
  }, 60_000);
  afterAll(async () => {
    await Promise.all(members.map(async (member) => await member.stop()));
    await cluster.close();
    counter.close();
  });

  test(`loses no run, doubles no effect, halves no blob and overtakes no revocation in ${kills} kills`, async () => {
    const { database, directory } = cluster;
    const local = await cluster.openServer();
    const digestOf = async (name: string): Promise<string> => {
      const signal = new AbortController().signal;
      return (await local.app.hasher.hash(local.app.source, path.join(cluster.skills, name), signal)).digest ?? "";
    };
    const [countingDigest, gatedDigest] = [await digestOf("counting"), await digestOf("gated")];
    const facts = { cluster: cluster.url, skills: cluster.skills, grants: [`counting@${countingDigest}`] };
    const servers = [
      await openServerProcess(directory, { name: "server-a", ...facts }),
      await openServerProcess(directory, { name: "server-b", ...facts }),
    ];
    const workers = [
      openWorkerProcess(directory, "worker-a", cluster.url),
      openWorkerProcess(directory, "worker-b", cluster.url),
    ];
    members.push(...servers, ...workers);
    await Promise.all(members.map(async (member) => await member.ready()));

    let isOver = false;
    const completed = new Map<string, unknown>();
    const effects = new Set<string>();
    const blobs = new Map<string, string>();
    let unanswered = 0;
    let gated = 0;
    const strange: string[] = [];

    async function call(method: string, params: object): Promise<Answer["result"]> {
      const server = servers[Math.floor(Math.random() * servers.length)];
      try {
        const response = await fetch(`${server?.url}/rpc`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
          signal: AbortSignal.timeout(60_000),
        });
        const { result, error } = (await response.json()) as Answer;
        if (error === undefined) return result;
        const code = error.data?.code ?? "";
        if (!["RUNTIME_BUSY", "CLOSED", "INTERNAL", "QUOTA_EXCEEDED"].includes(code))
          strange.push(`${method}: ${JSON.stringify(error)}`);
      } catch {
        // The server was killed.
      }
      unanswered++;
      await pause(50);
      return undefined;
    }
    async function load(): Promise<void> {
      for (let number = 0; !isOver; number++) {
        const key = randomBytes(8).toString("hex");
        const kind = Math.random();
        if (kind < 0.4) {
          const code = `import time\ndef main():\n    time.sleep(0.05)\n    return "${key}"`;
          const result = await call("run_code", { language: "python", code });
          if (result?.status === "completed") completed.set(result.run_id ?? "", key);
        } else if (kind < 0.8) {
          const result = await call("execute_skill", { name: "counting", args: { key } });
          if (result?.status !== "completed") continue;
          completed.set(result.run_id ?? "", key);
          effects.add(`/${key}`);
        } else {
          const content = key.repeat(1 + Math.floor(Math.random() * 100_000));
          const result = await call("create_blob", { kind: "text/plain", content });
          if (result?.blob_id !== undefined)
            blobs.set(result.blob_id, createHash("sha256").update(content).digest("hex"));
        }
      }
    }
    /** Approves a skill and takes that back, over and over. Times are the database's. */
    const revoked: { readonly from: number; until: number }[] = [];
    async function decide(): Promise<void> {
      const store = openClusterApprovals(database, { log: silentLog });
      const now = async (): Promise<number> => {
        const [row] = await database.query<{ at: number }>(
          "select extract(epoch from clock_timestamp())::float8 as at",
        );
        return row?.at ?? 0;
      };
      const tryIt = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> =>
        await work().catch(() => undefined);
      for (let number = 0; !isOver; number++) {
        const id = `grant_${number.toString(16).padStart(16, "0")}`;
        const { port } = counter.address() as AddressInfo;
        const capabilities = { network: [`http://127.0.0.1:${port}`], secrets: [], project: "none" } as const;
        const given = { who: "ada", when: "2026-01-01T00:00:00Z", via: "terminal" };
        const grant = {
          id,
          skill: "gated",
          version: "1.0.0",
          digest: gatedDigest,
          capabilities,
          from: "own",
          ...given,
        } as const;
        // Where an outage hides whether it was stored, the time before it counts as approved.
        const last = revoked.at(-1);
        const begun = await tryIt(now);
        if (last?.until === Infinity) last.until = begun ?? last.from;
        await tryIt(async () => await store.change("everywhere", (before) => ({ ...before, grants: [grant] })));
        const runs = Array.from({ length: 3 }, (_, one) =>
          tryIt(
            async () =>
              await local.app.toolbox.call(
                "execute_skill",
                { name: "gated", args: { key: `gated-${number}-${one}` } },
                local.caller,
              ),
          ),
        );
        await pause(Math.random() * 60);
        const done = await tryIt(async () => {
          await store.change("everywhere", (before) => ({ ...before, grants: [] }));
          return await now();
        });
        if (done !== undefined) revoked.push({ from: done, until: Infinity });
        const ended = await Promise.all(runs);
        gated += ended.filter((result) => (result as Answer["result"])?.status === "completed").length;
      }
    }
    const work = [decide(), ...Array.from({ length: 6 }, load)];

    const did = { connection: 0, worker: 0, server: 0 };
    for (let number = 0; number < kills; number++) {
      const kind = Math.random();
      if (kind < 0.6) {
        did.connection++;
        await database
          .query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1`,
          )
          .catch(() => undefined);
      } else if (kind < 0.85) {
        did.worker++;
        workers[Math.floor(Math.random() * workers.length)]?.kill();
      } else {
        did.server++;
        servers[Math.floor(Math.random() * servers.length)]?.kill();
      }
      // Each kill meets some work.
      const before = completed.size + blobs.size;
      for (let waited = 0; waited < 1_500 && completed.size + blobs.size === before; waited += 10) await pause(10);
      await pause(Math.random() * 40);
    }
    // On a slow machine, members may have been starting most of the time.
    const hasWorked = (): boolean => blobs.size > 0 && effects.size > 0 && gated > 0;
    await expect.poll(hasWorked, { timeout: 120_000 }).toBe(true);
    isOver = true;
    await Promise.all(work);
    await Promise.all(members.map(async (member) => await member.ready()));

    const left = async (): Promise<number> =>
      (await database.query("select 1 as one from acp_skills.runs where status in ('queued', 'running')")).length;
    await expect.poll(left, { timeout: 60_000, interval: 500 }).toBe(0);
    const rows = await database.query<{
      id: string;
      status: string;
      output: string | null;
      fence: number;
      effects: boolean;
      name: string | null;
      started: number | null;
      error: string | null;
    }>(
      `select run_id as id, status, result::json ->> 'output' as output, fence, has_effects as effects,
         spec::json -> 'skill' ->> 'name' as name, extract(epoch from started_at)::float8 as started, error
       from acp_skills.runs where placed`,
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const counts = Object.fromEntries(
      [...new Set(rows.map(({ status }) => status))].map((status) => [
        status,
        rows.filter((row) => row.status === status).length,
      ]),
    );
    console.log(
      JSON.stringify({
        kills,
        did,
        runs: rows.length,
        counts,
        answered: completed.size,
        unanswered,
        effects: counted.size,
        blobs: blobs.size,
        revoked: revoked.length,
      }),
    );

    // Every answer is what the row says, and every run has ended.
    for (const [id, key] of completed) expect(byId.get(id)).toMatchObject({ status: "completed", output: key });
    // Nothing that can be repeated is given up, but what ended three workers.
    expect(rows.filter(({ status, effects: has, fence }) => status === "interrupted" && !has && fence < 3)).toEqual([]);
    expect(
      rows.filter(
        ({ status, name, error }) =>
          status === "refused" && !(name === "gated" && error?.includes("PERMISSION_DENIED")),
      ),
    ).toEqual([]);
    expect(strange).toEqual([]);
    expect([...counted].filter(([, count]) => count !== 1)).toEqual([]);
    for (const key of effects) expect(counted.get(key)).toBe(1);

    const store = openClusterBlobs(database, { clock: systemClock, log: silentLog });
    let found = 0;
    for await (const { id, owner, sha256 } of store.list()) {
      found++;
      expect(
        createHash("sha256")
          .update(await gather(store.read(owner, id)))
          .digest("hex"),
      ).toBe(sha256);
      if (blobs.has(id)) expect(sha256).toBe(blobs.get(id));
      blobs.delete(id);
    }
    expect(found).toBeGreaterThan(0);
    expect([...blobs.keys()]).toEqual([]);
    await store.close();

    const overtaken = rows.filter(
      ({ name, fence, started }) =>
        name === "gated" &&
        fence > 0 &&
        revoked.some(({ from, until }) => started !== null && started > from && started < until),
    );
    expect(overtaken).toEqual([]);
    expect(rows.some(({ name, status }) => name === "gated" && status === "completed")).toBe(true);
  }, 900_000);
});
