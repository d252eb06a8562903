import { afterEach, describe, expect, test } from "vitest";
import { type ServeConfig, defaultServerLimits } from "../../../src/serve/config.ts";
import { manualClock } from "../../manual-clock.ts";
import { openMemoryRuns } from "../../runtime/runs/memory-runs.ts";
import { callerConfig, tokenOf } from "../caller-config.ts";
import { type OpenHttp, localToken, openHttp, rpcCall } from "../open-http.ts";
import { sendRaw } from "../send-raw.ts";
import { type EventClient, readEvents } from "./read-events.ts";

const fewToken = tokenOf("few");
const access: ServeConfig["access"] = {
  default: "private",
  public: ["open*"],
  restricted: ["asked*"],
  private: [],
};

let server: OpenHttp | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const skillText = (name: string, description = `Does ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`;
const fileOf = (name: string): string => `/skills/${name}/SKILL.md`;

async function open(names: readonly string[], rest: Parameters<typeof openHttp>[0] = {}): Promise<OpenHttp> {
  server = await openHttp({
    skills: Object.fromEntries(names.map((name) => [fileOf(name), skillText(name)])),
    callers: [callerConfig("few", { skills: ["open*", "few*"] })],
    ...rest,
    config: { access, ...rest.config },
  });
  return server;
}

/** Changes the skills, and reads them again. */
async function change(opened: OpenHttp, files: Readonly<Record<string, string | undefined>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    if (text === undefined) opened.mcpApp.files.remove(`/skills/${name}`);
    else opened.mcpApp.files.write(fileOf(name), text);
  }
  await opened.mcpApp.catalog.reload();
}

async function tellsNothingMore(opened: OpenHttp, ...clients: readonly EventClient[]): Promise<void> {
  await opened.get("/healthz");
  const counts = clients.map(({ events }) => events.length);
  await opened.get("/healthz");
  expect(clients.map(({ events }) => events.length)).toEqual(counts);
}

const readers = [
  { who: "nobody", token: undefined, sees: (name: string) => /^(open|asked)/.test(name) },
  { who: "a caller of some skills", token: fewToken, sees: (name: string) => /^(open|few)/.test(name) },
  { who: "a caller of all skills", token: localToken, sees: () => true },
];

describe.each(readers)("$who", ({ token, sees }) => {
  test.each(["open-a", "asked-a", "few-a", "secret-a"])(
    "is told of %s being added, changed and removed only if it discovers it",
    async (name) => {
      const opened = await open(["open-z"]);
      const client = await readEvents(opened.url, { token });
      await change(opened, { [name]: skillText(name) });
      await change(opened, { [name]: skillText(name, "Does more.") });
      await change(opened, { [name]: undefined });
      // Everybody discovers this one, so that what was sent before it has arrived.
      await change(opened, { "open-last": skillText("open-last") });
      await expect.poll(() => client.events.at(-1)?.data).toMatchObject({ added: ["open-last"] });
      const told = client.events.filter(({ type }) => type === "catalog").map(({ data }) => data);
      const nothing = { added: [], removed: [], changed: [] };
      expect(told.slice(0, -1)).toEqual(
        sees(name)
          ? [
              { ...nothing, added: [name] },
              { ...nothing, changed: [name] },
              { ...nothing, removed: [name] },
            ]
          : [],
      );
      if (!sees(name)) expect(client.text()).not.toContain(name);
      expect(client.events.map(({ id }) => Number(id.split("-")[1]))).toEqual(client.events.map((_, index) => index));
      client.leave();
    },
  );
});

const action = {
  "/skills/open-sum/SKILL.md": "---\nname: Sum\nshort_description: Adds.\n---\n",
  "/skills/open-sum/skill.toml":
    'name = "open.sum"\nversion = "1.0.0"\ndescription = "Adds."\nkind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n',
  "/skills/open-sum/main.py": "def main():\n    return 1\n",
};

test("a caller is notified of its own runs, without what they print, and nobody else is", async () => {
  const { runs } = openMemoryRuns(({ print }) => {
    print("secret output\n");
    return { type: "returned", value: "secret result" };
  });
  const opened = await open([], { skills: action, runs });
  const [own, few, anonymous] = [
    await readEvents(opened.url, { token: localToken }),
    await readEvents(opened.url, { token: fewToken }),
    await readEvents(opened.url),
  ];
  expect(await opened.rpc(rpcCall("execute_skill", { name: "open.sum" }))).toMatchObject({
    result: { status: "completed" },
  });
  await opened.rpc(rpcCall("execute_skill", { name: "open.sum" }), { token: null });
  await expect.poll(() => own.events.at(-1)?.data["status"]).toBe("completed");
  const run = { run_id: "run_0000000001", skill: "open.sum" };
  expect(own.events.filter(({ type }) => type === "run").map(({ data }) => data)).toEqual([
    { type: "queued", ...run },
    { type: "started", ...run },
    { type: "ended", ...run, status: "completed" },
  ]);
  await tellsNothingMore(opened, own, few, anonymous);
  expect([...few.events, ...anonymous.events].map(({ type }) => type)).toEqual(["reset", "reset"]);
  expect(own.text() + few.text() + anonymous.text()).not.toMatch(/secret/);
  for (const client of [own, few, anonymous]) client.leave();
});

test("a client that comes back gets what it has missed, once", async () => {
  const opened = await open([]);
  const first = await readEvents(opened.url, { token: localToken });
  await change(opened, { a: skillText("a") });
  await expect.poll(() => first.events.length).toBe(2);
  first.leave();
  await change(opened, { b: skillText("b") });
  await change(opened, { c: skillText("c") });
  const again = await readEvents(opened.url, { token: localToken, lastEventId: first.events[1]!.id });
  await expect.poll(() => again.events.map(({ data }) => data["added"])).toEqual([["b"], ["c"]]);
  expect(again.events.map(({ type }) => type)).toEqual(["catalog", "catalog"]);
  again.leave();
});

test.each([
  ["of another process", "0123-4"],
  ["that is none", "x"],
  ["of the future", undefined],
])("a client with an id %s is instructed to read the snapshot", async (_what, lastEventId) => {
  const opened = await open([]);
  const first = await readEvents(opened.url, { token: localToken });
  await expect.poll(() => first.events.length).toBe(1);
  const id = lastEventId ?? first.events[0]!.id.replace("-0", "-7");
  const client = await readEvents(opened.url, { token: localToken, lastEventId: id });
  await expect
    .poll(() => client.events)
    .toEqual([
      { id: first.events[0]!.id, type: "reset", data: { snapshot: `${opened.url}/.well-known/skill-sharing` } },
    ]);
  first.leave();
  client.leave();
});

test("more changes at once than fit into an event are announced as a reset", async () => {
  const opened = await open([]);
  const client = await readEvents(opened.url, { token: localToken });
  const names = Array.from({ length: 101 }, (_, n) => `s${n}`);
  await change(opened, Object.fromEntries(names.map((name) => [name, skillText(name)])));
  await expect
    .poll(() => client.events.map(({ type, id }) => [type, id.split("-")[1]]))
    .toEqual([
      ["reset", "0"],
      ["reset", "1"],
    ]);
  client.leave();
});

test("the stream is not cached or buffered, and a comment every 15 seconds keeps it alive", async () => {
  const clock = manualClock();
  const opened = await open([], { clock });
  // The server's own timer, as long as there are connections.
  await opened.get("/healthz");
  const before = clock.pending;
  const client = await readEvents(opened.url, { token: localToken });
  expect(client.status).toBe(200);
  expect(client.headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  await expect.poll(() => client.events.length).toBe(1);
  expect(client.text()).toMatch(/^retry: 2000\n\n/);
  clock.pass(14_999);
  await opened.get("/healthz");
  expect(client.comments()).toBe(0);
  for (const beats of [1, 2]) {
    clock.pass(15_000);
    await expect.poll(client.comments).toBe(beats);
  }
  expect(clock.pending).toBeGreaterThan(before);
  client.leave();
  await expect.poll(() => clock.pending).toBeLessThanOrEqual(before);
});

test("the number of streams is limited, of one caller, of one address without token, and of all", async () => {
  const opened = await open([], { config: { access, limits: { ...defaultServerLimits, eventStreams: 8 } } });
  const clients: EventClient[] = [];
  const connect = async (token?: string): Promise<number> => {
    const client = await readEvents(opened.url, { token });
    clients.push(client);
    return client.status;
  };
  expect([await connect(fewToken), await connect(fewToken), await connect(fewToken)]).toEqual([200, 200, 429]);
  expect(clients[2]!.headers["retry-after"]).toBe("5");
  await expect
    .poll(clients[2]!.text)
    .toBe(
      '{"error":{"code":"RATE_LIMITED","message":"The limit of 2 event streams of one caller is reached; close one.","retry":{"after_seconds":5}}}',
    );
  expect([await connect(), await connect(), await connect(localToken)]).toEqual([200, 429, 200]);
  await expect.poll(clients[4]!.text).toContain("The limit of 1 event streams of one address without token is reached");
  clients[0]!.leave();
  await expect
    .poll(async () => (await (await opened.get("/metrics")).text()).includes("acp_skills_event_streams 3"))
    .toBe(true);
  expect(await connect(fewToken)).toBe(200);
  for (const client of clients) client.leave();
});

test("streams end when the server stops, and HEAD opens none", async () => {
  const opened = await open([]);
  expect((await sendRaw(opened.url, "/events", { method: "HEAD" })).status).toBe(200);
  expect(await (await opened.get("/metrics")).text()).toContain("acp_skills_event_streams 0");
  const client = await readEvents(opened.url);
  await opened.close();
  await client.ended;
});
