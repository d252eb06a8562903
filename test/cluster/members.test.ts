import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import type { Database } from "../../src/cluster/database.ts";
import { joinCluster } from "../../src/cluster/members.ts";
import { openPglite } from "./pglite-database.ts";
import { manualClock } from "../manual-clock.ts";

describe("members of a cluster", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openPglite();
  });
  afterAll(async () => await database.close());
  const members = async () =>
    await database.query<{ kind: string; left: number }>(
      "select kind, extract(epoch from lease_until - now())::float8 as left from acp_skills.members",
    );

  test("are there from when they join until they leave, and renew their lease", async () => {
    const clock = manualClock();
    const member = await joinCluster(database, { kind: "worker", version: "1.0.0", clock, log: silentLog });
    expect(await members()).toMatchObject([{ kind: "worker" }]);
    await database.query("update acp_skills.members set lease_until = now() - interval '1 minute'");
    clock.pass(5_000);
    await expect.poll(async () => (await members())[0]?.left).toBeGreaterThan(0);
    await member.leave();
    expect(await members()).toEqual([]);
  });
});
