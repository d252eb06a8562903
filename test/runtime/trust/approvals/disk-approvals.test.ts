import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allows } from "../../../../src/runtime/trust/grants.ts";
import { describeApprovalStore } from "../../../contract/approval-store.ts";
import { adding, digestOf, grantOf, removing } from "./grant-of.ts";
import { approvalDirectories } from "./approvals-directory.ts";

const newDirectory = approvalDirectories();
const project = { project: "/home/ada/project" };
const projectFile = `${createHash("sha256").update(project.project).digest("hex").slice(0, 32)}.json`;
/** When every file is old enough to be cached. */
const later = (): number => Date.now() + 10_000;

describeApprovalStore("diskApprovals", () => {
  const { open, told } = newDirectory();
  return {
    store: open(),
    close: () => {
      expect(told).toEqual([]);
    },
  };
});

describe("approvals on disk", () => {
  test("are files that people can read, and only their owner", async () => {
    const { open, at } = newDirectory();
    const store = open();
    await store.change(project, adding(grantOf(1, { capabilities: { ...grantOf(1).capabilities, network: [] } })));
    await store.change("everywhere", (before) => ({ ...before, blocks: [] }));
    await store.keepCopy(digestOf(1), [{ path: "a", sha256: "0".repeat(64) }]);
    expect(readFileSync(at("projects", projectFile), "utf8")).toBe(`{
  "format": "acp-skills approvals 1",
  "project": "/home/ada/project",
  "grants": [
    {
      "id": "grant_0000000000000001",
      "skill": "acme.skill1",
      "version": "1.0.0",
      "digest": "${digestOf(1)}",
      "capabilities": {
        "network": [],
        "secrets": [
          "API_KEY"
        ],
        "project": "read"
      },
      "who": "ada",
      "when": "2026-01-02T03:04:05.678Z",
      "via": "editor"
    }
  ],
  "blocks": []
}
`);
    expect(readdirSync(at()).sort()).toEqual(["copies", "everywhere.json", "lock", "projects"]);
    if (process.platform === "win32") return;
    const modes = ["everywhere.json", "copies", "projects", "lock"].map((name) => statSync(at(name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o700, 0o700, 0o700]);
    expect(statSync(at("projects", projectFile)).mode & 0o777).toBe(0o600);
  });

  test("can be edited by hand, and written with another indentation", async () => {
    const { open, at, told } = newDirectory();
    writeFileSync(at("everywhere.json"), '\uFEFF{"format":"acp-skills approvals 1"}', { mode: 0o600 });
    expect(await open().read("everywhere")).toEqual({ format: "acp-skills approvals 1", grants: [], blocks: [] });
    expect(told).toEqual([]);
  });

  test("of an older version lose the tools of the agent that they named, and keep the rest", async () => {
    const { open, at, told } = newDirectory();
    const stored = { ...grantOf(1), capabilities: { ...grantOf(1).capabilities, tools: ["Bash(git:*)"] } };
    const text = JSON.stringify({ format: "acp-skills approvals 1", grants: [stored] });
    writeFileSync(at("everywhere.json"), text, { mode: 0o600 });
    expect((await open().read("everywhere")).grants).toEqual([grantOf(1)]);
    expect(told).toEqual([]);
  });

  test("have secrets that are sent to hosts apart from those that are read", async () => {
    const { open } = newDirectory();
    const wants = { ...grantOf(1).capabilities, secrets: [], uses: ["GH_TOKEN@api.github.com"] };
    await open().change("everywhere", adding(grantOf(1, { capabilities: wants })));
    expect((await open().read("everywhere")).grants).toEqual([grantOf(1, { capabilities: wants })]);
  });

  test("are read again only when their file changed", async () => {
    const { open } = newDirectory();
    const [store, other] = [open({ now: later }), open()];
    await other.change(project, adding(grantOf(1)));
    const first = await store.read(project);
    expect(await store.read(project)).toBe(first);
    await other.change(project, adding(grantOf(2)));
    expect((await store.read(project)).grants).toEqual([grantOf(1), grantOf(2)]);
    await store.change(project, removing(1));
    expect((await store.read(project)).grants).toEqual([grantOf(2)]);
  });

  test("are read again when their file has the same size and modification time", async () => {
    const { open, at } = newDirectory();
    const store = open({ now: later });
    await store.change("everywhere", adding(grantOf(1)));
    await store.read("everywhere");
    const file = at("everywhere.json");
    const { atimeMs, mtimeMs } = statSync(file);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("skill1", "skill2"));
    utimesSync(file, atimeMs / 1000, mtimeMs / 1000);
    expect((await store.read("everywhere")).grants[0]?.skill).toBe("acme.skill2");
  });

  test("are read again while their file is so young that its times may not show a change", async () => {
    const { open } = newDirectory();
    const store = open();
    await store.change(project, adding(grantOf(1)));
    const first = await store.read(project);
    expect(await store.read(project)).not.toBe(first);
    expect(await store.read(project)).toEqual(first);
  });

  test("are removed with their file", async () => {
    const { open, at } = newDirectory();
    const store = open({ now: later });
    await store.change(project, adding(grantOf(1)));
    expect((await store.read(project)).grants).toHaveLength(1);
    rmSync(at(), { recursive: true });
    expect((await store.read(project)).grants).toEqual([]);
    await store.change(project, adding(grantOf(2)));
    expect((await store.read(project)).grants).toEqual([grantOf(2)]);
  });

  test("grant nothing to a subject that differs in one character", async () => {
    const { open } = newDirectory();
    await open().change(project, adding(grantOf(1)));
    const [grant] = (await open().read(project)).grants;
    const access = (name: string, digest: string): Parameters<typeof allows>[1] => ({
      skill: { name, digest },
      wants: grantOf(1).capabilities,
    });
    expect(grant && allows(grant, access("acme.skill1", digestOf(1)), 0)).toBe(true);
    expect(grant && allows(grant, access("acme.skill1", digestOf(2)), 0)).toBe(false);
    expect(grant && allows(grant, access("acme.skilL1", digestOf(1)), 0)).toBe(false);
  });
});
