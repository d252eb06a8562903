import { afterEach, describe, expect, test } from "vitest";
import type { OfferedSkill } from "../../src/skills/skill.ts";
import { type OpenServer, openServer } from "./open-server.ts";
import { defaultConfig } from "../../src/serve/config.ts";

const open: OpenServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0).reverse()) await server.close();
});

const cleanRows = {
  "rows-clean/SKILL.md": "---\nname: Rows\n---\n# Rows\n",
  "rows-clean/skill.toml": `name = "rows.clean"
version = "1.2.0"
kind = "action"
description = "Removes blanks from a text."
[runtime]
language = "python"
entrypoint = "code/main.py"
[inputs.text]
type = "string"
required = true
`,
  "rows-clean/code/main.py": "def main(args):\n    return {'clean': args['text'].strip()}\n",
};
const notes = { "notes/SKILL.md": "---\nname: notes\ndescription: Takes notes.\n---\nWrite them down.\n" };

/** A server that publishes its skills to everybody, for download. */
async function publisher(skills: Readonly<Record<string, string>>): Promise<OpenServer> {
  const server = await openServer({
    skills,
    access: { ...defaultConfig.access, default: "public" },
    capabilityTypes: { plugin: ["*"] },
  });
  open.push(server);
  return server;
}

interface Reply {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string; readonly data: { readonly code: string; readonly hint?: string } };
}

async function call(server: OpenServer, method: string, params: object): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const { text } = await server.send("/rpc", { caller: "agent", method: "POST", headers, body });
  return JSON.parse(text) as Reply;
}

/** Waits for what a server's catalog notices. */
async function until(
  { session: { catalog } }: OpenServer,
  isSo: (skills: readonly OfferedSkill[]) => boolean,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (isSo(catalog.snapshot.skills)) resolve();
    };
    catalog.onChange(look);
    look();
  });
}

/** A server that offers the skills of others, once it has copies of all of them. */
async function consumer(
  sources: readonly string[],
  { wanted, grants = [] }: { readonly wanted: number; readonly grants?: readonly string[] },
): Promise<OpenServer> {
  const server = await openServer({ sources, skills: ["local"], callers: [{ name: "agent", grants }] });
  open.push(server);
  await until(server, (skills) => skills.filter(({ remote }) => remote !== undefined).length >= wanted);
  // The first look ends a little later.
  await server.app.refreshSources();
  return server;
}

async function digestAt(server: OpenServer, name: string): Promise<string> {
  const skill = server.session.catalog.find(name)?.skill;
  const { signal } = new AbortController();
  const { digest } = await server.app.hasher.hash(server.app.source, skill!.directory, signal);
  return digest!;
}

describe("two of our servers", () => {
  test("one lists, describes and reads what the other publishes, beside its own skills", async () => {
    const source = await publisher({ ...cleanRows, ...notes });
    const server = await consumer([source.url], { wanted: 2 });
    const { result } = await call(server, "list_skills", { detail: "names" });
    const names = (result?.skills as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["local", "notes", "rows.clean"]));
    const described = await call(server, "describe_skill", { name: "rows.clean", detail: "summary" });
    expect(described.result?.skill).toMatchObject({ digest: await digestAt(source, "rows.clean") });
    const read = await call(server, "read_skill_file", { name: "notes", path: "SKILL.md" });
    expect(read.result).toMatchObject({ content: notes["notes/SKILL.md"] });
  });

  test("a run needs a grant of the exact version, although it needs nothing beyond its sandbox", async () => {
    const source = await publisher(cleanRows);
    const args = { name: "rows.clean", args: { text: "  a " } };
    const refused = await call(await consumer([source.url], { wanted: 1 }), "execute_skill", args);
    expect(refused.error).toMatchObject({ data: { code: "PERMISSION_DENIED" } });
    const granted = await consumer([source.url], {
      wanted: 1,
      grants: [`rows.clean@${await digestAt(source, "rows.clean")}`],
    });
    const { result } = await call(granted, "execute_skill", args);
    expect(result).toMatchObject({ status: "completed", output: { clean: "a" } });
  });

  test("a skill that is published as an api runs on the other server, once a run of it was granted", async () => {
    const source = await openServer({
      skills: cleanRows,
      access: { ...defaultConfig.access, default: "public" },
    });
    open.push(source);
    const args = { name: "rows-clean", args: { text: "  a " } };
    const refusing = await consumer([source.url], { wanted: 1 });
    expect((await call(refusing, "execute_skill", args)).error).toMatchObject({ data: { code: "PERMISSION_DENIED" } });
    const { name, directory } = refusing.session.catalog.find("rows-clean")!.skill;
    expect(directory).toContain("remote");
    const granted = await consumer([source.url], {
      wanted: 1,
      grants: [`${name}@${await digestAt(refusing, "rows-clean")}`],
    });
    const { result } = await call(granted, "execute_skill", args);
    expect(result).toMatchObject({ status: "completed", output: { clean: "a" } });
  });

  test("a new version replaces the old one, and what is no longer published disappears", async () => {
    const source = await publisher({ ...notes, ...cleanRows });
    const server = await consumer([source.url], { wanted: 2 });
    const before = server.session.catalog.find("notes")?.skill.directory;
    source.writeSkill("notes", "Takes better notes.");
    source.removeSkill("rows-clean");
    const isNew = (skills: readonly OfferedSkill[]): boolean =>
      !skills.some(({ skill }) => skill.name === "rows.clean") &&
      skills.some(({ skill }) => skill.description === "Takes better notes.");
    await until(source, isNew);
    await server.app.refreshSources();
    await until(server, isNew);
    const { catalog } = server.session;
    expect(catalog.find("notes")?.skill.directory).not.toBe(before);
    expect(catalog.find("rows.clean")).toBeUndefined();
  });

  test("a source that is gone keeps its last copies, also for the next session", async () => {
    const source = await publisher(notes);
    const server = await consumer([source.url], { wanted: 1 });
    await source.close();
    open.splice(open.indexOf(source), 1);
    await server.app.refreshSources();
    expect(server.logged).toMatchObject([expect.stringContaining("The last good copy of")]);
    const session = server.app.openSession({});
    await session.catalog.ready;
    expect(session.catalog.find("notes")?.remote?.label).toBe(`${source.url}/`);
    session.close();
  });
});
