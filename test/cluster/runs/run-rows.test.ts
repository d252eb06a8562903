import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { blockKey, openClusterApprovals } from "../../../src/cluster/approvals.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../../src/cluster/database.ts";
import { labelsIn } from "../../../src/cluster/runs/submitted-context.ts";
import { sweepRuns } from "../../../src/cluster/runs/run-records.ts";
import {
  type NewRun,
  cancelRun,
  claimRun,
  endQueued,
  endRun,
  expireLeases,
  forgottenRuns,
  insertRun,
  reapRuns,
  renewLeases,
} from "../../../src/cluster/runs/run-rows.ts";
import { blockOf, grantOf } from "../../runtime/trust/approvals/grant-of.ts";
import { openPglite } from "../pglite-database.ts";
import { type PostgresServer, postgresFault, startPostgres } from "../postgres.ts";

const [worker, other] = [randomUUID(), randomUUID()];
const ownerKey = (owner: string): Buffer => createHash("sha256").update(owner).digest();
const limits = { ofOwner: 3, bytesOfOwner: 10_000, all: 5 };
let count = 0;
const runOf = (changes: Partial<NewRun> = {}): NewRun => ({
  runId: `run_${String(++count).padStart(10, "0")}`,
  ownerKey: ownerKey("ada"),
  member: randomUUID(),
  labels: [],
  spec: "{}",
  context: "{}",
  grantIds: [],
  blockKeys: [],
  hasEffects: false,
  events: "[]",
  ttlMs: 60_000,
  ...changes,
});

function describeRows(name: string, open: () => Promise<{ database: Database; close: () => Promise<void> }>): void {
  describe(`rows of runs, ${name}`, () => {
    let database: Database;
    let close: () => Promise<void>;
    beforeAll(async () => {
      ({ database, close } = await open());
    }, 60_000);
    afterAll(async () => await close());
    beforeEach(async () => {
      await database.query("delete from acp_skills.runs");
      await database.query("delete from acp_skills.grants");
      await database.query("delete from acp_skills.blocks");
    });
    const insert = async (run: NewRun): Promise<NewRun> => {
      expect(await insertRun(database, run, { ofOwner: 100, bytesOfOwner: 1e9, all: 1_000 })).toBe(true);
      return run;
    };
    const claim = async (runId: string, changes: Partial<Parameters<typeof claimRun>[2]> = {}) =>
      await database.transaction(
        async (queries) =>
          await claimRun(queries, runId, {
            worker,
            labels: [],
            leaseMs: 60_000,
            withEffects: true,
            resumes: false,
            ...changes,
          }),
      );
    const statusOf = async (runId: string): Promise<string | undefined> =>
      (await database.query<{ status: string }>("select status from acp_skills.runs where run_id = $1", [runId]))[0]
        ?.status;
    const expire = async (): Promise<void> => {
      await database.query(
        "update acp_skills.runs set lease_until = now() - interval '1 second' where status = 'running'",
      );
    };

    test("are claimed once, and what an earlier claim reports has no effect", async () => {
      const { runId } = await insert(runOf());
      expect(await claim(runId)).toMatchObject({ runId, fence: 1 });
      expect(await claim(runId)).toBe("taken");
      expect(await claim(runId, { worker: other })).toBe("taken");
      expect(await claim("run_9999999999")).toBe("gone");
      await expire();
      expect(await reapRuns(database)).toMatchObject([{ runId, status: "queued" }]);
      expect(await claim(runId, { worker: other })).toMatchObject({ fence: 2 });
      const ending = { status: "completed", result: "{}", events: "[]" } as const;
      expect(await endRun(database, { runId, fence: 1, worker: other }, ending)).toBe(false);
      expect(await endRun(database, { runId, fence: 2, worker }, ending)).toBe(false);
      expect(await endRun(database, { runId, fence: 2, worker: other }, ending)).toBe(true);
      expect(await endRun(database, { runId, fence: 2, worker: other }, ending)).toBe(false);
      expect(await statusOf(runId)).toBe("completed");
    });

    test("are claimed again by the worker that did not get the answer to its claim", async () => {
      const { runId } = await insert(runOf());
      await claim(runId);
      expect(await claim(runId, { resumes: true })).toMatchObject({ fence: 1 });
      expect(await claim(runId, { resumes: true, worker: other })).toBe("taken");
    });

    test("are claimed without waiting for the disk only where they have no effects", async () => {
      const claimed = async (hasEffects: boolean, withEffects: boolean): Promise<readonly unknown[]> => {
        const { runId } = await insert(runOf({ hasEffects }));
        return await database.transaction(async (queries) => {
          const options = { worker, labels: [], leaseMs: 60_000, withEffects, resumes: false };
          const found = await claimRun(queries, runId, options);
          const [row] = await queries.query<{ value: string }>("select current_setting('synchronous_commit') as value");
          return [typeof found === "object" ? found.fence : found, row?.value];
        });
      };
      expect(await claimed(false, false)).toEqual([1, "off"]);
      expect(await claimed(true, false)).toEqual(["has-effects", "on"]);
      expect(await claimed(true, true)).toEqual([1, "on"]);
    });

    test("demand labels", async () => {
      const { runId } = await insert(runOf({ labels: ["arch=arm64", "gpu"] }));
      expect(await claim(runId, { labels: ["gpu"] })).toBe("other-labels");
      expect(await statusOf(runId)).toBe("queued");
      expect(await claim(runId, { labels: ["arch=arm64", "gpu", "region=eu"] })).toMatchObject({ fence: 1 });
    });

    test("are limited for each owner, in number and bytes, and for all together", async () => {
      const tried = async (changes: Partial<NewRun>): Promise<boolean> =>
        await insertRun(database, runOf(changes), limits);
      for (const expected of [true, true, true, false]) expect(await tried({})).toBe(expected);
      const bob = { ownerKey: ownerKey("bob") };
      expect(await tried({ ...bob, spec: " ".repeat(10_001) })).toBe(false);
      expect(await tried({ ...bob, spec: " ".repeat(6_000) })).toBe(true);
      expect(await tried({ ...bob, spec: " ".repeat(6_000) })).toBe(false);
      expect(await tried({ ownerKey: ownerKey("eve") })).toBe(true);
      expect(await tried({ ownerKey: ownerKey("fay") })).toBe(false);
    });

    test("are not claimed when an approval is gone or over, or a block was added", async () => {
      const store = openClusterApprovals(database, { log: silentLog });
      const grant = grantOf(1);
      const add = async (): Promise<void> => {
        await store.change("everywhere", (before) => ({ ...before, grants: [grant] }));
      };
      const facts = { grantIds: [grant.id], blockKeys: [blockKey("everywhere", grant.skill, "own")] };
      const [first, second, third] = [
        await insert(runOf(facts)),
        await insert(runOf(facts)),
        await insert(runOf(facts)),
      ];
      expect(await claim(first.runId)).toBe("revoked");
      await add();
      expect(await claim(first.runId)).toMatchObject({ fence: 1 });
      await database.query("update acp_skills.grants set expires_at = now() - interval '1 second'");
      expect(await claim(second.runId)).toBe("revoked");
      await database.query("update acp_skills.grants set expires_at = null");
      expect(await claim(second.runId)).toMatchObject({ fence: 1 });
      await store.change("everywhere", (before) => ({ ...before, blocks: [blockOf(1)] }));
      expect(await claim(third.runId)).toBe("revoked");
      expect(await endQueued(database, third.runId, { status: "refused", error: "{}" })).toBe(third.member);
    });

    test("end at once when they are cancelled in the queue, and name their worker when they are executed", async () => {
      const [queued, running] = [await insert(runOf()), await insert(runOf())];
      await claim(running.runId);
      expect(await cancelRun(database, queued.runId)).toBeUndefined();
      expect(await statusOf(queued.runId)).toBe("cancelled");
      expect(await claim(queued.runId)).toBe("taken");
      expect(await cancelRun(database, running.runId)).toBe(worker);
      expect(await renewLeases(database, worker, [{ runId: running.runId, fence: 1 }], 1_000)).toMatchObject([
        { cancelled: true },
      ]);
      await expire();
      expect(await reapRuns(database)).toMatchObject([{ runId: running.runId, status: "cancelled" }]);
    });

    test("are given up where they had effects, or were claimed three times", async () => {
      const [harmful, poisonous] = [await insert(runOf({ hasEffects: true })), await insert(runOf())];
      await claim(harmful.runId);
      for (let claims = 0; claims < 3; claims++) {
        expect(await claim(poisonous.runId)).toMatchObject({ fence: claims + 1 });
        await expire();
        await reapRuns(database);
      }
      expect([await statusOf(harmful.runId), await statusOf(poisonous.runId)]).toEqual(["interrupted", "interrupted"]);
    });

    test("lose their lease only to time: another worker renews none, and a worker that leaves ends its own", async () => {
      const { runId } = await insert(runOf());
      await claim(runId);
      expect(await renewLeases(database, other, [{ runId, fence: 1 }], 1_000)).toEqual([]);
      expect(await renewLeases(database, worker, [{ runId, fence: 2 }], 1_000)).toEqual([]);
      expect(await renewLeases(database, worker, [{ runId, fence: 1 }], 60_000)).toMatchObject([
        { runId, cancelled: false },
      ]);
      expect(await reapRuns(database)).toEqual([]);
      await expireLeases(database, other);
      expect(await reapRuns(database)).toEqual([]);
      await expireLeases(database, worker);
      expect(await reapRuns(database)).toMatchObject([{ runId, status: "queued" }]);
    });

    test("that no worker was woken for in a while are found once", async () => {
      const { runId } = await insert(runOf());
      expect(await forgottenRuns(database, 1_000)).toEqual([]);
      await database.query("update acp_skills.runs set woken_at = now() - interval '1 minute'");
      expect(await forgottenRuns(database, 1_000)).toMatchObject([{ runId }]);
      expect(await forgottenRuns(database, 1_000)).toEqual([]);
    });

    test("are swept when they have expired or exceed the limits of their owner, and never before they end", async () => {
      const all = [
        await insert(runOf()),
        await insert(runOf()),
        await insert(runOf({ ttlMs: -1_000 })),
        await insert(runOf()),
      ];
      const [first, second, third, fourth] = all.map(({ runId }) => runId);
      expect(await sweepRuns(database, { maxRuns: 1, maxBytes: 1_000 })).toBe(0);
      for (const runId of [first, second, third]) await endQueued(database, runId ?? "", { status: "cancelled" });
      await database.query(
        "update acp_skills.runs set created_at = now() - make_interval(secs => 100 - substr(run_id, 5)::integer)",
      );
      expect(await sweepRuns(database, { maxRuns: 2, maxBytes: 1_000 })).toBe(2);
      expect([await statusOf(second ?? ""), await statusOf(fourth ?? "")]).toEqual(["cancelled", "queued"]);
    });
  });
}

describeRows("on PGlite", async () => {
  const database = await openPglite();
  return { database, close: async () => await database.close() };
});

describe.skipIf(postgresFault())("with a server", () => {
  let server: PostgresServer | undefined;
  describeRows("on PostgreSQL", async () => {
    server = await startPostgres();
    const url = parseClusterUrl(await server.newDatabase());
    const database = await openDatabase(url, { log: silentLog, clock: systemClock });
    const close = async (): Promise<void> => {
      await database.close();
      server?.stop();
    };
    return { database, close };
  });
});

test("labels are words, sorted, each once, eight at most", () => {
  expect(labelsIn(" gpu  arch=arm64,gpu ")).toEqual(["arch=arm64", "gpu"]);
  expect(labelsIn("")).toEqual([]);
  for (const wrong of ["GPU!", "a b c d e f g h i", "=x", "x=", "a".repeat(70)])
    expect(labelsIn(wrong)).toBeUndefined();
});
