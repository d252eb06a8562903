import { once } from "node:events";
import { type ServerResponse, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createDeferred } from "../../../src/base/promises.ts";
import { findInstallation } from "../../../src/browser/server/detail/installation.ts";
import type {
  AppliedPlan,
  Discovered,
  PlanRequest,
  SourceList,
  SourcePlan,
} from "../../../src/browser/wire/sources.ts";
import { type Publisher, usePublisher } from "../../cli/commands/sources/publish-skills.ts";
import { manualClock } from "../../manual-clock.ts";
import { type OpenBrowse, type OpenBrowseOptions, openBrowse } from "./open-browse.ts";

const openPublisher = usePublisher();

/** The skill browser of an empty project, with what it answers about sources. */
interface OpenSources extends OpenBrowse {
  readonly project: (file: string) => string;
  readonly list: () => Promise<SourceList["places"]>;
  readonly plan: (planRequest: PlanRequest) => Promise<SourcePlan>;
  readonly apply: (plan: Pick<SourcePlan, "plan" | "nonce">) => ReturnType<OpenBrowse["post"]>;
}

async function open(options: OpenBrowseOptions = {}): Promise<OpenSources> {
  const browse = await openBrowse({ allowPrivate: ["127.0.0.1"], ...options });
  onTestFinished(browse.close);
  const root = path.join(path.dirname(browse.directory), "project");
  return {
    ...browse,
    project: (file) => path.join(root, file),
    list: async () => (JSON.parse((await browse.ask("/api/sources")).text) as SourceList).places,
    plan: async (planRequest) => {
      const { status, text } = await browse.post("/api/sources/plan", planRequest);
      expect([status, text]).toEqual([200, text]);
      return JSON.parse(text) as SourcePlan;
    },
    apply: ({ plan, nonce }) => browse.post("/api/sources/apply", { plan, nonce }),
  };
}

function version(number: string, more = "", body = "Do it."): Record<string, string> {
  const metadata = `metadata:\n  version: "${number}"\n${more}`;
  return { "SKILL.md": `---\nname: alpha\ndescription: Does alpha.\n${metadata}---\n\n${body}\n`, "old.md": "old\n" };
}

async function publishAlpha(): Promise<Publisher> {
  const publisher = await openPublisher();
  await publisher.publish({ alpha: version("1.0.0") });
  return publisher;
}

const alphaOf = (source: string): PlanRequest => ({ place: "project", source, names: ["alpha"] });
const updateAll: PlanRequest = { place: "project", update: [] };

async function install(browse: OpenSources, { origin }: Publisher): Promise<void> {
  const { status } = await browse.apply(await browse.plan(alphaOf(origin)));
  expect(status).toBe(200);
}

test("a source is discovered, a skill of it planned, and installed with the lock that acp-skills add writes", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  const discovered = await browse.post("/api/sources/discover", { source: publisher.origin });
  expect(discovered.json()).toEqual({
    source: `${publisher.origin}/`,
    skills: [{ name: "alpha", description: "Does alpha.", installed: [] }],
    more: 0,
    problems: [],
  } satisfies Discovered);

  const plan = await browse.plan(alphaOf(publisher.origin));
  expect(plan).toMatchObject({ directory: "~/project/.agents/skills", problems: [] });
  expect(plan.changes).toMatchObject([
    {
      name: "alpha",
      action: "install",
      description: "Does alpha.",
      to: expect.stringMatching(/^1\.0\.0 \(\w{7}\)$/) as string,
      widened: [],
      files: [
        { path: "SKILL.md", change: "added", diff: expect.stringContaining("+Do it.") as string },
        { path: "old.md", change: "added", diff: "@@ -0,0 +1 @@\n+old" },
      ],
      moreFiles: 0,
    },
  ]);
  expect(plan.changes[0]).not.toHaveProperty("refused");
  expect(existsSync(browse.project("skills-lock.json"))).toBe(false);
  expect(existsSync(browse.project(".agents"))).toBe(false);

  const applied = await browse.apply(plan);
  expect(applied.json()).toEqual({
    directory: "~/project/.agents/skills",
    done: ["alpha"],
  } satisfies AppliedPlan);
  expect(readFileSync(browse.project(".agents/skills/alpha/old.md"), "utf8")).toBe("old\n");
  expect(JSON.parse(readFileSync(browse.project("skills-lock.json"), "utf8"))).toEqual({
    version: 1,
    skills: {
      alpha: {
        source: "127.0.0.1",
        sourceUrl: `${publisher.origin}/`,
        sourceType: "well-known",
        wellKnownDigest: expect.stringMatching(/^sha256:/) as string,
        computedHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        version: "1.0.0",
        digest: expect.stringMatching(/^sha256:/) as string,
        files: { "SKILL.md": expect.any(String) as string, "old.md": expect.any(String) as string },
      },
    },
  });
  const [project, global] = await browse.list();
  expect(project).toMatchObject({ place: "project", skills: [{ name: "alpha", version: "1.0.0", state: "verified" }] });
  expect(global).toMatchObject({ place: "global", directory: "~/.agents/skills", skills: [] });
  const again = await browse.post("/api/sources/discover", { source: publisher.origin });
  expect((JSON.parse(again.text) as Discovered).skills).toMatchObject([{ name: "alpha", installed: ["project"] }]);
  expect((await browse.plan(alphaOf(publisher.origin))).changes).toEqual([]);
});

test("a skill knows where it was installed from, and whether it was changed since", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  await install(browse, publisher);
  const [skill, context] = [
    browse.project(".agents/skills/alpha"),
    { directory: browse.project("."), home: browse.directory },
  ];
  const source = `${publisher.origin}/`;
  expect(await findInstallation(skill, context)).toEqual({ source, isModified: false });
  writeFileSync(path.join(skill, "old.md"), "changed\n");
  expect(await findInstallation(skill, context)).toEqual({ source, isModified: true });
  expect(await findInstallation(browse.project(".agents/skills/beta"), context)).toBeUndefined();
  writeFileSync(browse.project("skills-lock.json"), "{");
  expect(await findInstallation(skill, context)).toBeUndefined();
});

test("a skill is installed for the person, beside the project", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  const plan = await browse.plan({ ...alphaOf(publisher.origin), place: "global" });
  expect((await browse.apply(plan)).json()).toMatchObject({ directory: "~/.agents/skills" });
  const [project, global] = await browse.list();
  expect([project?.skills, global?.skills]).toMatchObject([[], [{ name: "alpha", state: "verified" }]]);
});

test("an update shows what is newly requested and each file as a diff, and is made", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  await install(browse, publisher);
  expect(await browse.plan(updateAll)).toMatchObject({ changes: [], problems: [] });
  const { "SKILL.md": text = "" } = version("1.1.0", "  acp-skills-network: https://api.example.com\n", "Do it well.");
  await publisher.publish({ alpha: { "SKILL.md": text, "new.md": "new\n" } });
  const plan = await browse.plan({ place: "project", update: ["alpha"] });
  expect(plan.changes).toMatchObject([
    {
      name: "alpha",
      action: "update",
      from: expect.stringMatching(/^1\.0\.0 /) as string,
      to: expect.stringMatching(/^1\.1\.0 /) as string,
      widened: ["network https://api.example.com"],
      wants: ["network https://api.example.com"],
      files: [
        { path: "SKILL.md", change: "changed", diff: expect.stringContaining("-Do it.\n+Do it well.") as string },
        { path: "new.md", change: "added", diff: "@@ -0,0 +1 @@\n+new" },
        { path: "old.md", change: "removed", diff: "@@ -1 +0,0 @@\n-old" },
      ],
    },
  ]);
  expect((await browse.apply(plan)).status).toBe(200);
  expect(readdirSync(browse.project(".agents/skills/alpha"))).toEqual(["SKILL.md", "new.md"]);
  expect((await browse.list())[0]?.skills).toMatchObject([{ version: "1.1.0", state: "verified" }]);
});

test("local changes are shown, and neither replaced by an update nor by installing it again", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  await install(browse, publisher);
  writeFileSync(browse.project(".agents/skills/alpha/old.md"), "mine\n");
  expect((await browse.list())[0]?.skills).toMatchObject([
    { state: "modified", changes: ["changed: old.md", "does not fit the lock: digest, computedHash"] },
  ]);
  const words = "changed: old.md; does not fit the lock: digest, computedHash";
  expect((await browse.plan(updateAll)).problems).toEqual([
    `alpha: nothing newer, but it has local changes (${words}); --discard-changes restores it`,
  ]);
  await publisher.publish({ alpha: version("1.1.0") });
  const sentence = `it has local changes (${words}); --discard-changes replaces it`;
  for (const [planRequest, refused] of [
    [updateAll, sentence],
    [alphaOf(publisher.origin), sentence],
  ] as const) {
    const plan = await browse.plan(planRequest);
    expect(plan.changes).toMatchObject([{ name: "alpha", refused }]);
    expect((await browse.apply(plan)).json()).toMatchObject({ done: [] });
  }
  expect(readFileSync(browse.project(".agents/skills/alpha/old.md"), "utf8")).toBe("mine\n");
});

test("a skill with errors of check is installed as by the command, with its problems shown", async () => {
  const browse = await open();
  const publisher = await openPublisher();
  const { "SKILL.md": text = "" } = version("1.0.0");
  await publisher.publish({ alpha: { "SKILL.md": text.replace("name: alpha", "name: Alpha_X") } });
  const plan = await browse.plan(alphaOf(publisher.origin));
  expect(plan.changes).toMatchObject([{ name: "alpha", action: "install" }]);
  expect(plan.changes[0]?.refused).toBeUndefined();
  expect(plan.changes[0]?.problems[0]).toEqual({
    severity: "warning",
    words: "its own files name it alpha-x, and agents are offered it as alpha-x",
  });
  expect(plan.changes[0]?.problems.map(({ severity }) => severity)).toContain("error");
  expect((await browse.apply(plan)).json()).toMatchObject({ done: ["alpha"] });
  expect(existsSync(browse.project(".agents/skills/alpha/SKILL.md"))).toBe(true);
});

test("a plan does not count once what is installed, or the lock, is not what it was", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  const planned = await browse.plan(alphaOf(publisher.origin));
  mkdirSync(browse.project(".agents/skills/alpha"), { recursive: true });
  writeFileSync(browse.project(".agents/skills/alpha/mine.md"), "mine\n");
  const refused = await browse.apply(planned);
  expect([refused.status, refused.json()]).toMatchObject([409, { error: { code: "STALE" } }]);
  expect(readdirSync(browse.project(".agents/skills/alpha"))).toEqual(["mine.md"]);

  const other = await browse.plan({ ...alphaOf(publisher.origin), place: "global" });
  mkdirSync(path.join(browse.directory, "..", ".agents"), { recursive: true });
  writeFileSync(path.join(browse.directory, "..", ".agents", ".skill-lock.json"), '{"version":3,"skills":{},"more":1}');
  expect((await browse.apply(other)).status).toBe(409);
});

test("a plan is carried out once, and only with its own nonce", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  const [one, other] = [await browse.plan(alphaOf(publisher.origin)), await browse.plan(alphaOf(publisher.origin))];
  const wrong = await browse.apply({ plan: one.plan, nonce: other.nonce });
  expect([wrong.status, wrong.json()]).toMatchObject([403, { error: { code: "PERMISSION_DENIED" } }]);
  expect(existsSync(browse.project("skills-lock.json"))).toBe(false);
  expect((await browse.apply(one)).status).toBe(200);
  const again = await browse.apply(one);
  expect([again.status, again.json()]).toMatchObject([409, { error: { code: "STALE" } }]);
  expect((await browse.apply(other)).status).toBe(409);
});

test("a plan is stored for ten minutes, and four of them at most", async () => {
  const time = manualClock();
  // Answers to requests need the real one.
  const clock = { now: () => systemClock.now(), after: (ms: number, callback: () => void) => time.after(ms, callback) };
  const browse = await open({ clock, idleMs: 600_000_000 });
  const publisher = await publishAlpha();
  const plans: SourcePlan[] = [];
  for (let count = 0; count < 5; count++) plans.push(await browse.plan(alphaOf(publisher.origin)));
  const [first, , , , last] = plans;
  expect((await browse.apply(first!)).status).toBe(409);
  time.pass(10 * 60_000);
  expect((await browse.apply(last!)).json()).toMatchObject({ error: { code: "STALE" } });
  expect(existsSync(browse.project("skills-lock.json"))).toBe(false);
});

test.each([
  ["ftp://example.com", 400, /^not a source: /],
  ["https://10.0.0.1/", 502, /10\.0\.0\.1 is a private address; if you trust it, allow it with --allow-private/],
  ["http://example.com", 502, /is not asked over http/],
])("%s is refused as acp-skills add refuses it", async (source, status, message) => {
  const browse = await open({ allowPrivate: [] });
  const answer = await browse.post("/api/sources/discover", { source });
  expect([answer.status, answer.json()]).toEqual([
    status,
    { error: expect.objectContaining({ message: expect.stringMatching(message) as string }) as object },
  ]);
});

test("a lock of the project cannot name a server of this machine", async () => {
  const browse = await open({ allowPrivate: [] });
  const publisher = await publishAlpha();
  await install(browse, publisher);
  const asked = publisher.asked.length;
  const { changes, problems } = await browse.plan(updateAll);
  expect(changes).toEqual([]);
  expect(problems).toEqual([expect.stringContaining("a project's lock may be written by others")]);
  expect(publisher.asked).toHaveLength(asked);
});

async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ["too large", Buffer.alloc(40 * 1024 * 1024, " ")],
  ["no JSON", "<html>"],
])("an index that is %s is refused in a sentence", async (_, body) => {
  const browse = await open();
  const source = await serve((response) => response.end(body));
  const answer = await browse.post("/api/sources/discover", { source });
  expect([answer.status, answer.json()]).toMatchObject([502, { error: { code: "SOURCE_INVALID" } }]);
  expect(answer.text.length).toBeLessThan(4_000);
});

test("of a long index, the page gets the first 500 skills, and how many more there are", async () => {
  const skills = Array.from({ length: 600 }, (_, at) => ({
    name: `skill-${at}`,
    type: "skill-md",
    description: "x".repeat(1_000),
    url: `/${at}.md`,
    digest: `sha256:${"0".repeat(64)}`,
  }));
  const index = { $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json", skills };
  const browse = await open();
  const source = await serve((response) => response.end(JSON.stringify(index)));
  const answer = await browse.post("/api/sources/discover", { source });
  expect(answer.json()).toMatchObject({ more: 100 });
  expect((JSON.parse(answer.text) as Discovered).skills).toHaveLength(500);
});

test("at most four sources are read at a time", async () => {
  const browse = await open();
  let asked = 0;
  const pages = new Set<ServerResponse>();
  const source = await serve((response) => {
    asked += 1;
    pages.add(response);
  });
  const reading = Array.from({ length: 4 }, () => browse.post("/api/sources/discover", { source }));
  await expect.poll(() => asked).toBeGreaterThanOrEqual(4);
  const busy = await browse.post("/api/sources/discover", { source });
  expect([busy.status, busy.json()]).toMatchObject([429, { error: { code: "RUNTIME_BUSY" } }]);
  await browse.close();
  await Promise.allSettled(reading);
  expect([...pages].every(({ writableFinished }) => !writableFinished)).toBe(true);
});

test("a page that goes away ends the reading of its source", async () => {
  const browse = await open();
  const { promise: asked, resolve: wasAsked } = createDeferred<ServerResponse>();
  const source = await serve(wasAsked);
  const headers = {
    origin: browse.origin,
    ...(await browse.signIn()),
    "sec-fetch-site": "same-origin",
    "content-type": "application/json",
  };
  const page = request(`${browse.origin}/api/sources/discover`, { method: "POST", headers });
  page.once("error", () => undefined).end(JSON.stringify({ source }));
  const response = await asked;
  const closed = once(response, "close");
  page.destroy();
  await closed;
  expect(response.writableFinished).toBe(false);
});

test("requests that name too many skills, or something else, are refused", async () => {
  const browse = await open();
  for (const planRequest of [
    { place: "elsewhere", update: [] },
    { place: "project", source: "example.com", names: [] },
    { place: "project", source: "example.com", names: Array.from({ length: 51 }, String) },
    { place: "project", source: "example.com", names: ["a"], force: true },
  ])
    expect((await browse.post("/api/sources/plan", planRequest)).status).toBe(400);
  const unknown = await browse.post("/api/sources/plan", { place: "project", update: ["alpha"] });
  expect([unknown.status, unknown.json()]).toMatchObject([404, { error: { code: "SKILL_NOT_FOUND" } }]);
});

test("a damaged lock is reported, and does not hide the other", async () => {
  const browse = await open();
  const publisher = await publishAlpha();
  await browse.apply(await browse.plan({ ...alphaOf(publisher.origin), place: "global" }));
  writeFileSync(browse.project("skills-lock.json"), "{");
  const [project, global] = await browse.list();
  expect(project).toMatchObject({ skills: [], fault: expect.stringContaining("skills-lock.json") as string });
  expect(global?.skills).toMatchObject([{ name: "alpha" }]);
});

test("with --read-only, what is installed is shown, and nothing is asked or changed", async () => {
  const browse = await open({ readOnly: true });
  expect(await browse.list()).toHaveLength(2);
  for (const target of ["discover", "plan", "apply"]) {
    const { status, text } = await browse.post(`/api/sources/${target}`, {});
    expect([status, text]).toEqual([403, expect.stringContaining("read-only")]);
  }
});
