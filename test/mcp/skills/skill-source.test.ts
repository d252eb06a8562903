import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { afterEach, describe, expect, it } from "vitest";
import type { McpCaller } from "../../../src/mcp/mcp-caller.ts";
import type { Skill } from "../../../src/skills/skill.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { Catalog } from "../../../src/skills/skillset/catalog.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../src/skills/files/disk-skill-files.ts";
import { mergePolicies } from "../../../src/runtime/trust/policy/merge-policies.ts";
import { layerOf } from "../../runtime/trust/policy/layers.ts";
import { memorySkillBytes, memorySkillFiles } from "../../skills/files/memory-skill-files.ts";
import type { Answer, Ask, Question } from "../../../src/runtime/question.ts";
import { openTrust } from "../../runtime/trust/open-trust.ts";
import { type OpenMcpApp, openMcpApp, skills } from "../open-mcp-app.ts";
import { speaksSkills } from "../raw-request.ts";
import { noPolicy } from "../../../src/runtime/trust/policy/open-policies.ts";

const cleanup: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

interface Host extends OpenMcpApp {
  readonly client: Client;
  readonly host: SkillsClient;
}

/** A host that verifies every file against the digest in its entry. */
async function openHost(
  given: Parameters<typeof openMcpApp>[0] = skills,
  { mode = "auto", caller = {}, capabilities = speaksSkills, ...options }: Options = {},
): Promise<Host> {
  const app = await openMcpApp(given, options);
  cleanup.push(() => app.server.close());
  const { url, headers } = await app.server.open({ ...app.caller, ...caller });
  const client = new Client({ name: "host", version: "1" }, { versionNegotiation: { mode }, capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  cleanup.push(() => client.close());
  return { ...app, client, host: new SkillsClient(client) };
}

type Options = Parameters<typeof openMcpApp>[1] & {
  mode?: "auto" | "legacy";
  caller?: Partial<McpCaller>;
  capabilities?: object;
};

const skillMd = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n`;

describe.each(["auto", "legacy"] as const)("a host of the Skills extension, in mode %s", (mode) => {
  it("lists skills whose every file keeps its digest, text or not", async () => {
    const { host } = await openHost(skills, { mode });
    expect([host.supported, host.directoryRead]).toEqual([true, true]);
    const listing = await host.list();
    expect(listing.skills.map(({ uri }) => uri)).toEqual(["skill://alpha/SKILL.md", "skill://beta/SKILL.md"]);
    const [alpha] = listing.skills;
    if (alpha === undefined || alpha.resources === "dynamic") throw new Error("alpha has no files");
    expect(alpha.frontmatter).toEqual({ name: "alpha", description: "Does alpha.", metadata: { owner: "me" } });
    expect(alpha.resources.map(({ uri, size }) => [uri, size])).toEqual([
      ["skill://alpha/SKILL.md", 75],
      ["skill://alpha/assets/a%20%26%20b.bin", 3],
      ["skill://alpha/references/guide.md", 25],
    ]);
    const files = await Promise.all(alpha.resources.map(({ uri }) => host.read(alpha, uri)));
    expect(files.map(({ verified }) => verified)).toEqual([true, true, true]);
    expect(files[1]?.bytes).toEqual(new Uint8Array([0, 255, 1]));
    expect(files[2]).toMatchObject({ text: "A guide – with a dash.\n", mimeType: "text/markdown" });
  });

  it("gets one skill, and reads its directories", async () => {
    const { host } = await openHost(skills, { mode });
    const { skill } = await host.get("skill://alpha/SKILL.md");
    expect(skill.frontmatter.name).toBe("alpha");
    const names = async (uri: string): Promise<string[]> =>
      (await host.readDirectory(uri)).resources.map(({ name }) => name);
    expect(await names("skill://alpha")).toEqual(["SKILL.md", "assets", "references"]);
    expect(await names("skill://alpha/assets")).toEqual(["a & b.bin"]);
    await expect(host.readDirectory("skill://alpha/SKILL.md")).rejects.toMatchObject({ code: -32602 });
    await expect(host.readDirectory("skill://nobody")).rejects.toMatchObject({ code: -32602 });
  });
});

describe("the Skills extension", () => {
  it("lists 120 skills in pages", async () => {
    const names = Array.from({ length: 120 }, (_, index) => `skill-${String(index).padStart(3, "0")}`);
    const { host } = await openHost(
      Object.fromEntries(names.map((name) => [`/skills/${name}/SKILL.md`, skillMd(name)])),
    );
    const { skills: all } = await host.list();
    expect(all.map(({ frontmatter }) => frontmatter.name)).toEqual(names);
  });

  it("excludes a skill whose SKILL.md contains Unicode tags, and serves other files that contain them as bytes", async () => {
    const files = {
      "/skills/alpha/notes.md": "hid\u{e0041}den",
      "/skills/gamma/SKILL.md": `---\nname: gamma\ndescription: Fine.\n---\nhid\u{e0041}den\n`,
    };
    const { host, client, logged } = await openHost({ ...skills, ...files });
    expect(await uris(host)).not.toContain("skill://gamma/SKILL.md");
    expect(logged.join()).toContain(
      "The skill gamma is not served over the MCP Skills extension: SKILL.md contains invisible Unicode tags",
    );
    const { contents } = await client.readResource({ uri: "skill://alpha/notes.md" });
    expect(contents[0]).not.toHaveProperty("text");
  });

  it.each([
    ["hidden from models", "disable-model-invocation: true\n", noPolicy],
    ["denied by the policy", "", mergePolicies([layerOf("organisation", { skills: { deny: ["release"] } })], "/")],
  ])("serves no skill that is %s, nor its files, in any request", async (_what, extra, policy) => {
    const text = `---\nname: release\ndescription: Releases.\n${extra}---\n`;
    const { host, client } = await openHost(
      { ...skills, "/skills/release/SKILL.md": text },
      { trust: openTrust({ policy }).trust },
    );
    expect(await uris(host)).not.toContain("skill://release/SKILL.md");
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(["alpha", "beta"]);
    expect(client.getInstructions()).not.toContain("release");
    for (const act of [
      () => host.get("skill://release/SKILL.md"),
      () => client.readResource({ uri: "skill://release/SKILL.md" }),
      () => host.readDirectory("skill://release"),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: -32602 });
    }
  });

  it("refuses a cursor that it did not issue", async () => {
    const { client } = await openHost();
    const request = { method: "skills/list", params: { cursor: "x" } };
    await expect(new SkillsClient(client).list(request.params)).rejects.toMatchObject({
      code: -32602,
      data: { code: "INVALID_CURSOR" },
    });
  });

  it.each([
    [
      "a display name that is not the slug",
      { "/skills/gamma/SKILL.md": "---\nname: Gamma Ray\ndescription: x\n---\n" },
    ],
    [
      "frontmatter that only a lenient parser accepts",
      {
        "/skills/gamma/SKILL.md": "---\nname: gamma\ndescription: x: y\n---\n",
      },
    ],
    [
      "more files than a host accepts",
      {
        "/skills/gamma/SKILL.md": skillMd("gamma"),
        ...Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`/skills/gamma/f${index}`, ""])),
      },
    ],
    [
      "more bytes than a host accepts",
      {
        "/skills/gamma/SKILL.md": skillMd("gamma"),
        "/skills/gamma/large.bin": new Uint8Array(16 * 1024 * 1024),
      },
    ],
  ])("does not serve a skill with %s and logs it once", async (_what, files) => {
    const { host, client, logged } = await openHost({ ...skills, ...files });
    expect(await uris(host)).toEqual(["skill://alpha/SKILL.md", "skill://beta/SKILL.md"]);
    expect(await uris(host)).toHaveLength(2);
    expect(logged.filter((line) => /The skill gamma.* is not served/.test(line))).toHaveLength(1);
    const { structuredContent } = await client.callTool({ name: "list_skills", arguments: {} });
    expect(JSON.stringify(structuredContent)).toContain('"gamma');
  });

  it("does not read all of a skill that is too large to be served", async () => {
    const files = memorySkillFiles({
      "/skills/gamma/SKILL.md": skillMd("gamma"),
      "/skills/gamma/large.bin": new Uint8Array(16 * 1024 * 1024),
    });
    const hashed: string[] = [];
    const bytes = memorySkillBytes(files);
    const source = {
      files,
      bytes: {
        ...bytes,
        sha256: (file: string, signal: AbortSignal) => (hashed.push(file), bytes.sha256(file, signal)),
      },
    };
    const catalog = new Catalog({
      roots: [{ path: "/skills", origin: "explicit" }],
      files,
      clock: systemClock,
      log: () => undefined,
    });
    const { host } = await openHost(skills, { source, caller: { skills: catalog } });
    expect(await uris(host)).toEqual([]);
    await expect(host.readDirectory("skill://gamma")).rejects.toThrow();
    expect(hashed).toEqual([]);
  });

  it("serves only what the caller may see", async () => {
    const visible = ({ name }: Skill): boolean => name === "beta";
    const { host, client } = await openHost(skills, { caller: { visible } });
    expect(await uris(host)).toEqual(["skill://beta/SKILL.md"]);
    const hidden = await host.get("skill://alpha/SKILL.md").catch((error: unknown) => error);
    const absent = await host.get("skill://nobody/SKILL.md").catch((error: unknown) => error);
    expect(String(hidden).replaceAll("alpha", "nobody")).toBe(String(absent));
    await expect(client.readResource({ uri: "skill://alpha/SKILL.md" })).rejects.toThrow();
  });

  it("excludes the files of a hidden skill from those of the enclosing skill", async () => {
    const inner = { "/skills/alpha/inner/SKILL.md": skillMd("inner") };
    const visible = ({ name }: Skill): boolean => name !== "inner";
    const { host, client } = await openHost({ ...skills, ...inner }, { caller: { visible } });
    const { skill } = await host.get("skill://alpha/SKILL.md");
    expect(JSON.stringify(skill.resources)).not.toContain("inner");
    expect(JSON.stringify(await host.readDirectory("skill://alpha"))).not.toContain("inner");
    await expect(client.readResource({ uri: "skill://alpha/inner/SKILL.md" })).rejects.toMatchObject({ code: -32602 });
  });

  it.each([
    "skill://alpha/nothing.md",
    "skill://alpha/references",
    "skill://alpha/",
    "skill://alpha",
    "skill:///alpha/SKILL.md",
    "skill://alpha/../beta/SKILL.md#x",
    "skill://alpha/%2e%2e/beta/SKILL.md",
    "skill://alpha/..%2fbeta%2fSKILL.md",
    "skill://alpha/%2fetc%2fpasswd",
    "skill://alpha/%00",
    "skill://alpha/%ff",
    "skill://alpha/.git/config",
    "skill://alpha/SKILL.md?x",
    "skill://me@alpha/SKILL.md",
    "skill://sales-leads/nothing.md",
    "skill://skills-protocol-guide/SKILL.md",
    "skill://sales.leads/SKILL.md",
  ])("serves no resource at %s", async (uri) => {
    const { client } = await openHost();
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });

  it("follows no link out of a skill's directory", async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "mcp-skills-")));
    cleanup.push(() => {
      rmSync(root, { recursive: true });
    });
    mkdirSync(join(root, "alpha"));
    writeFileSync(join(root, "secret"), "secret");
    writeFileSync(join(root, "alpha", "SKILL.md"), skillMd("alpha"));
    symlinkSync(join(root, "secret"), join(root, "alpha", "link.md"));
    const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
    const directory = join(root, "alpha");
    const skill: Skill = {
      name: "alpha",
      slug: "alpha",
      version: "0.0.0",
      kind: "instruction",
      namespace: "alpha",
      description: "Does alpha.",
      tags: [],
      metadata: {},
      dialect: "agent-skills",
      directory,
      file: join(directory, "SKILL.md"),
    };
    const offer = { skill, sources: [root], problems: [], versions: [skill], isOwn: true as const };
    const snapshot = { skills: [offer], problems: [] };
    const { host, client } = await openHost(skills, { source, caller: { skills: { snapshot } } });
    const { skill: entry } = await host.get("skill://alpha/SKILL.md");
    expect(entry.resources).toMatchObject([{ uri: "skill://alpha/SKILL.md" }]);
    await expect(client.readResource({ uri: "skill://alpha/link.md" })).rejects.toMatchObject({ code: -32602 });
    expect(await client.readResource({ uri: "skill://alpha/SKILL.md" })).toMatchObject({
      contents: [{ text: skillMd("alpha") }],
    });
  });

  it("returns changes with the next request and notifies a subscribed client", async () => {
    const { host, client, files, catalog } = await openHost();
    expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true });
    const told = new Promise<void>((resolve) => {
      client.setNotificationHandler("notifications/resources/list_changed", () => {
        resolve();
      });
    });
    const subscription = await client.listen({ resourcesListChanged: true });
    files.write("/skills/gamma/SKILL.md", skillMd("gamma"));
    await catalog.reload();
    await told;
    expect(await uris(host)).toContain("skill://gamma/SKILL.md");
    await subscription.close();
  });

  it.each(["auto", "legacy"] as const)(
    "serves a host that does not declare the extension, in mode %s",
    async (mode) => {
      const { client, host } = await openHost(skills, { mode, capabilities: {} });
      expect(client.getServerCapabilities()?.resources).toBeUndefined();
      const [alpha] = (await host.list()).skills;
      if (alpha === undefined) throw new Error("there is no skill");
      expect(await host.read(alpha)).toBeDefined();
    },
  );

  it("announces no notifications to a client that cannot receive them", async () => {
    const { client } = await openHost(skills, { mode: "legacy" });
    expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: false });
  });
});

describe("skills that came with a project", () => {
  const questions: Question[] = [];
  const answers =
    (answer: Answer): Ask =>
    (question) => {
      questions.push(question);
      return Promise.resolve({ answer });
    };
  afterEach(() => {
    questions.length = 0;
  });

  it("are listed without a question, and not read where there is nobody to ask", async () => {
    const { host, client } = await openHost(skills, { origin: "project", project: "/" });
    const { skills: listed } = await host.list();
    expect(listed.map(({ frontmatter }) => frontmatter.description)).toContain("Does alpha.");
    const refused = {
      code: -32001,
      data: { code: "PERMISSION_DENIED", hint: expect.stringContaining("/alpha") as string },
    };
    await expect(client.readResource({ uri: "skill://alpha/SKILL.md" })).rejects.toMatchObject(refused);
    await expect(host.readDirectory("skill://alpha")).rejects.toMatchObject(refused);
  });

  it("are read after one question for all of them", async () => {
    const ask = answers("trust");
    const { host } = await openHost(skills, { origin: "project", project: "/", caller: { ask } });
    for (const skill of (await host.list()).skills) expect(await host.read(skill)).toBeDefined();
    expect((await host.readDirectory("skill://alpha")).resources).not.toEqual([]);
    expect(questions.map(({ about }) => about)).toEqual(["read"]);
  });

  it("are not read after a refusal, and the person is not asked again", async () => {
    const { trust } = openTrust();
    const ask = answers("not-now");
    const { client, caller } = await openHost(skills, { origin: "project", project: "/", caller: { ask }, trust });
    for (const path of ["SKILL.md", "SKILL.md"])
      await expect(client.readResource({ uri: `skill://alpha/${path}` })).rejects.toThrow("not now");
    expect(questions).toHaveLength(1);
    trust.newTurn(caller.owner);
    await expect(client.readResource({ uri: "skill://alpha/SKILL.md" })).rejects.toThrow("not now");
    expect(questions).toHaveLength(1);
  });

  it("are read without a question after the person invoked them", async () => {
    const { trust } = openTrust();
    const { host, caller, catalog } = await openHost(skills, { origin: "project", project: "/", trust });
    trust.consent(caller.owner, catalog.find("alpha")!.skill.directory);
    const [alpha, beta] = (await host.list()).skills;
    expect(await host.read(alpha!)).toBeDefined();
    await expect(host.read(beta!)).rejects.toMatchObject({ data: { code: "PERMISSION_DENIED" } });
  });
});

async function uris(host: SkillsClient): Promise<string[]> {
  return (await host.list()).skills.map(({ uri }) => uri);
}
