import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Database, openDatabase, parseClusterUrl } from "../../src/cluster/database.ts";
import { followCallers, followPolicy, openCallerRecords, openPolicyRecords } from "../../src/cluster/callers.ts";
import { openClusterLedger } from "../../src/cluster/ledger.ts";
import type { CallerConfig } from "../../src/serve/config.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import { toTokenDigest } from "../../src/wire/http.ts";
import { createPolicies } from "../../src/runtime/trust.ts";
import { noCapabilities } from "../../src/skills/permissions.ts";
import { readAll } from "../contract/ledger.ts";
import { manualClock } from "../manual-clock.ts";
import { openPglite } from "./pglite-database.ts";
import { postgresFault, startPostgres } from "./postgres.ts";

const quiet = { log: silentLog, clock: systemClock };
const subject = { name: "acme.x", slug: "acme-x", version: "1.0.0", directory: "/s/acme-x", isOwn: true, source: "/s" };

describe("callers of a cluster", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openPglite();
  }, 60_000);
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.query("truncate acp_skills.callers cascade");
    await database.query("truncate acp_skills.policy");
  });
  const records = () => openCallerRecords(database, "ada");

  test("are at every server at once, with their tokens, and gone as soon as those are revoked", async () => {
    const seen: (readonly CallerConfig[])[] = [];
    const follower = await followCallers(database, (callers) => seen.push(callers), quiet);
    expect(follower.callers()).toEqual([]);
    expect(await records().add("ci", { skills: ["acme.*"], tools: ["list_skills"], secrets: ["API_KEY"] })).toBe(true);
    const token = await records().newToken("ci", 30);
    await expect.poll(() => follower.callers().length).toBe(1);
    expect(follower.callers()[0]).toEqual({
      name: "ci",
      tokenDigest: toTokenDigest(token),
      skills: ["acme.*"],
      tools: ["list_skills"],
      grants: [],
      secrets: ["API_KEY"],
      limits: { requestsPerMinute: 1_200, concurrentRequests: 64 },
    });
    expect(await records().revoke("ci")).toBe(1);
    await expect.poll(() => follower.callers(), { timeout: 1_000 }).toEqual([]);
    expect(seen.at(-1)).toEqual([]);
    follower.close();
  });

  test("have two tokens while one is being replaced, and the first one ends by itself", async () => {
    const clock = manualClock();
    await records().add("ci", {});
    const first = await records().newToken("ci", 30);
    const second = await records().rotate("ci", 2);
    const seen: (readonly CallerConfig[])[] = [];
    let isCut = false;
    const cut: Database = {
      ...database,
      query: async (text, values) => {
        if (isCut) throw new Error("gone");
        return await database.query(text, values);
      },
    };
    const follower = await followCallers(cut, (callers) => seen.push(callers), { log: silentLog, clock });
    const digests = () => follower.callers().map(({ tokenDigest }) => tokenDigest.toString("hex"));
    const [one, other] = [first, second].map((token) => toTokenDigest(token).toString("hex"));
    expect(digests()).toEqual([one, other]);
    // No database is asked: it ends in an outage, too.
    isCut = true;
    clock.pass(2 * 60 * 60 * 1_000 + 1_000);
    expect(digests()).toEqual([other]);
    expect(seen.at(-1)).toHaveLength(1);
    clock.pass(31 * 24 * 60 * 60 * 1_000);
    expect(digests()).toEqual([]);
    follower.close();
    const [row] = await records().list();
    expect(row?.tokens.map(({ expiresAt }) => expiresAt !== null)).toEqual([true, true]);
  });

  test("are recorded in the ledger when they change, without tokens", async () => {
    await records().add("ci", { skills: ["acme.*"] });
    const token = await records().newToken("ci", null);
    await records().rotate("ci", 0);
    await records().remove("ci");
    const entries = await readAll(openClusterLedger(database, quiet));
    expect(entries.slice(-4).map(({ caller, event, about }) => [caller, event, about])).toEqual([
      ["ada", "caller", 'added the caller ci: {"skills":["acme.*"]}'],
      ["ada", "caller", "gave a token to the caller ci"],
      ["ada", "caller", "replaced the tokens of the caller ci, which end in 0 h"],
      ["ada", "caller", "removed the caller ci"],
    ]);
    expect(JSON.stringify(entries)).not.toContain(token);
    expect(JSON.stringify(await database.query("select * from acp_skills.tokens"))).not.toContain(token);
  });

  test.each([
    ["local", {}, /the name local is reserved/],
    ["Ci", {}, /lower-case letters/],
    ["ci", { tools: ["nonsense"] }, /tools\.0/],
    ["ci", { grants: ["acme.x"] }, /grants\.0: NAME@DIGEST/],
    ["ci", { skill: ["acme.x"] }, /skill/],
  ])("are refused with a reason: %s %o", async (name, settings, message) => {
    await expect(records().add(name, settings)).rejects.toThrow(message);
    expect(await records().list()).toEqual([]);
  });

  test("that another version has written are refused, and the others go on", async () => {
    const messages: string[] = [];
    await records().add("ci", {});
    await records().newToken("ci", null);
    await records().add("new", {});
    await records().newToken("new", null);
    await database.query(`update acp_skills.callers set settings = '{"only":["x"]}' where name = 'new'`);
    const log = (_: string, message: string) => messages.push(message);
    const follower = await followCallers(database, () => undefined, { log, clock: systemClock });
    expect(follower.callers().map(({ name }) => name)).toEqual(["ci"]);
    expect(messages).toEqual([expect.stringMatching(/this version cannot read are refused: new/)]);
    follower.close();
  });

  test("have at most ten tokens, of which the expired do not count, and one is revoked by its digest", async () => {
    await records().add("ci", {});
    for (let number = 0; number < 10; number++) await records().newToken("ci", null);
    await expect(records().newToken("ci", 1)).rejects.toThrow(/ci has 10 tokens, the limit/);
    await expect(records().revoke("ab")).rejects.toThrow(/neither a caller with tokens nor the start/);
    const [row] = await records().list();
    expect(await records().revoke(`sha256:${row?.tokens[3]?.digest.slice(0, 12)}`)).toBe(1);
    expect((await records().list())[0]?.tokens).toHaveLength(9);
    await database.query("update acp_skills.tokens set expires_at = now() - interval '1 second'");
    await records().newToken("ci", 1);
    expect((await records().list())[0]?.tokens).toHaveLength(1);
    await expect(records().newToken("nobody", 1)).rejects.toThrow(/there is no caller nobody/);
  });

  test("a policy is in force everywhere as soon as it is set, until it is removed", async () => {
    const { policy, close } = await followPolicy(database, quiet);
    const { policyFor } = createPolicies({
      given: undefined,
      home: "/h",
      log: silentLog,
      organisation: "/none",
      shared: policy,
    });
    const denies = () => policyFor(undefined).denies(subject, noCapabilities)?.why;
    expect(denies()).toBeUndefined();
    const stored = openPolicyRecords(database, "ada");
    await stored.set('{"skills": {"deny": ["acme.*"]}}');
    await expect.poll(denies).toMatch(/policy of the cluster.*denies the skill acme\.x/);
    expect(await stored.read()).toMatchObject({ text: '{"skills": {"deny": ["acme.*"]}}' });
    expect(await stored.remove()).toBe(true);
    await expect.poll(denies).toBeUndefined();
    close();
  });

  test("a policy that could never be read denies all that a policy can deny", async () => {
    const gone: Database = { ...database, query: () => Promise.reject(new Error("gone")) };
    const { policy, close } = await followPolicy(gone, quiet);
    const { policyFor } = createPolicies({
      given: undefined,
      home: "/h",
      log: silentLog,
      organisation: "/none",
      shared: policy,
    });
    const wants = { ...noCapabilities, network: ["https://example.com"] };
    expect(policyFor(undefined).denies(subject, noCapabilities)).toBeUndefined();
    expect(policyFor(undefined).denies(subject, wants)?.why).toMatch(/denies anything beyond the sandbox/);
    close();
  });
});

describe.skipIf(postgresFault())("in an outage", () => {
  test("the callers and the policy that were read last stay in force, with their age in the log, and changes count after it", async () => {
    const server = await startPostgres();
    const url = parseClusterUrl(await server.newDatabase());
    const database = await openDatabase(url, quiet);
    const clock = manualClock();
    const messages: string[] = [];
    const log = (_: string, message: string) => messages.push(message);
    const callers = openCallerRecords(database, "ada");
    await callers.add("ci", {});
    await callers.newToken("ci", null);
    await openPolicyRecords(database, "ada").set('{"skills": {"deny": ["acme.*"]}}');
    const follower = await followCallers(database, () => undefined, { log, clock });
    const { policy, close } = await followPolicy(database, { log, clock });
    server.kill();
    await expect(database.query("select pg_sleep(20)")).rejects.toThrow();
    clock.pass(10_000);
    await expect.poll(() => messages.length).toBe(2);
    expect(messages.toSorted()).toEqual([
      expect.stringMatching(/^The callers of the cluster cannot be read; what was read \d+ s ago stays in force/),
      expect.stringMatching(/^The policy of the cluster cannot be read; what was read \d+ s ago stays in force/),
    ]);
    expect(follower.callers()).toHaveLength(1);
    expect(policy()).toMatchObject({ text: '{"skills": {"deny": ["acme.*"]}}' });
    await server.start();
    await callers.revoke("ci");
    await expect.poll(() => follower.callers(), { timeout: 15_000 }).toEqual([]);
    follower.close();
    close();
    await database.close();
    server.stop();
  }, 60_000);
});
