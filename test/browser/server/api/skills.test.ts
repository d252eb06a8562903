import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { SkillDetail, SkillList, SkillRow } from "../../../../src/browser/wire/skills.ts";
import { manualClock } from "../../../manual-clock.ts";
import { type OpenBrowse, openBrowse, skillText } from "../open-browse.ts";

let browse: OpenBrowse;
afterEach(() => browse.close());

const patience = { timeout: 10_000 };

const action = (version: string, permissions = ""): string =>
  `name = "net.get"\nversion = "${version}"\ndescription = "Gets it."\nkind = "action"\n` +
  `[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n[inputs.url]\ntype = "string"\nrequired = true\n${permissions}`;
const network = '[permissions]\nnetwork = ["https://api.example.com"]\nsecrets = ["API_KEY"]\n';
const wanting = {
  "net-get/SKILL.md": "---\nname: net-get\ndescription: Gets it.\n---\n# Get\n",
  "net-get/skill.toml": action("1.0.0", network),
  "net-get/code/main.py":
    'import os\nKEY = os.environ["OTHER_KEY"]\nurl = "https://cdn.example.net/x"\n\ndef main(url):\n    return 1\n',
};

const plain = "---\nname: get\ndescription: Gets it.\nmetadata:\n  acp-skills-secrets: API_KEY\n---\n# Get\n";

const detailOf = async (id: string): Promise<SkillDetail> =>
  (await browse.ask(`/api/skills/${encodeURIComponent(id)}`)).json() as unknown as SkillDetail;
const rowsNow = async (): Promise<readonly SkillRow[]> =>
  ((await browse.ask("/api/skills")).json() as unknown as SkillList).skills;
const stateOf = async (id: string) => (await rowsNow()).find((row) => row.id === id)?.state;
const decide = (id: string, decision: object) => browse.post(`/api/skills/${id}/decision`, decision);

describe("the list", () => {
  it("has the offered skills, those that are not, and why", async () => {
    browse = await openBrowse({
      skills: {
        ...wanting,
        "pdf/SKILL.md": skillText("pdf", "license: MIT\ncompatibility: needs git\nallowed-tools: Read\n"),
        "Odd/SKILL.md": skillText("odd"),
        "bad/SKILL.md": "---\nname: bad\n---\nNo description.\n",
      },
    });
    expect(await stateOf("net-get")).toBe("needs-approval");
    await expect
      .poll(async () => (await rowsNow()).find(({ id }) => id === "pdf")?.environment, patience)
      .toBeDefined();
    const rows = await rowsNow();
    expect(rows.map(({ name, state }) => [name, state])).toEqual([
      ["bad", "invalid"],
      ["net-get", "needs-approval"],
      ["odd", "warnings"],
      ["pdf", "ok"],
    ]);
    expect(rows[1]).toMatchObject({
      id: "net-get",
      canonicalName: "net.get",
      kind: "action",
      version: "1.0.0",
      namespace: "net",
    });
    expect(rows[3]).toMatchObject({
      license: "MIT",
      allowedTools: ["Read"],
      source: "~/skills",
      errors: 0,
      warnings: 0,
    });
    const size = Buffer.byteLength(readFileSync(path.join(browse.directory, "pdf/SKILL.md")));
    expect(rows[3]?.tokens).toEqual({
      listed: Math.ceil("pdfDoes pdf.".length / 4),
      instructions: Math.ceil(size / 4),
    });
    expect(rows[0]).toMatchObject({
      id: path.join(browse.directory, "bad/SKILL.md"),
      errors: 1,
      description: "description is missing",
    });
  });

  it("is answered with 304 as long as nothing changes", async () => {
    browse = await openBrowse();
    const { headers } = await browse.ask("/api/skills");
    const again = await browse.ask("/api/skills", { headers: { "if-none-match": headers.etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
    const events = await browse.events();
    await events.next("reset");
    browse.write("new/SKILL.md", skillText("new"));
    await events.next("skills");
    const changed = await browse.ask("/api/skills", { headers: { "if-none-match": headers.etag } });
    expect(changed.status).toBe(200);
    events.close();
  });

  it("names places that were not read", async () => {
    browse = await openBrowse({
      skills: { "pdf/SKILL.md": skillText("pdf"), ".gitignore": "hidden/\n", "hidden/x/SKILL.md": skillText("x") },
    });
    const { unread } = (await browse.ask("/api/skills")).json() as unknown as SkillList;
    expect(unread.every((text) => text.includes("hidden"))).toBe(true);
  });
});

describe("one skill", () => {
  it("is shown with its files, digest, permissions, what its code mentions, inputs and scripts", async () => {
    browse = await openBrowse({
      skills: {
        ...wanting,
        "net-get/scripts/run.sh": 'OWN=1\necho "$OWN $TOKEN_OF_SHELL"\n',
        "net-get/LICENSE": "MIT License\n",
      },
    });
    const detail = await detailOf("net-get");
    expect(detail).toMatchObject({
      scripts: ["scripts/run.sh"],
      inputs: { url: { type: "string", required: true } },
      filesOmitted: 0,
      instructions: { markdown: "# Get\n", isWhole: true },
      detected: { hosts: ["cdn.example.net"], environment: ["OTHER_KEY", "TOKEN_OF_SHELL"] },
      permissions: {
        wants: { network: ["https://api.example.com"], secrets: ["API_KEY"], project: "none" },
        grants: [],
        isBlocked: false,
        isFree: false,
        widened: [],
        changedFiles: [],
      },
    });
    expect(detail.files.map(({ path: file }) => file)).toEqual([
      "LICENSE",
      "SKILL.md",
      "code/main.py",
      "scripts/run.sh",
      "skill.toml",
    ]);
    expect(detail.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(detail.nonce).toMatch(/^[\w-]{43}$/);
    expect(detail.manifest).toMatchObject({ name: "net.get" });
    expect(detail.license.files).toEqual(["LICENSE"]);
    expect(detail.environment.map(({ requirement }) => requirement)).toContain("secret API_KEY");
    const sandbox = detail.environment.find(({ requirement }) => requirement === "a sandbox");
    expect(sandbox?.evidence).not.toBe("not looked into");
    expect(sandbox?.status).not.toBe("unknown");
  });

  it("is read part by part, and can be decided about only with what the decision is about", async () => {
    browse = await openBrowse({ skills: wanting });
    const partOf = async (query: string): Promise<Partial<SkillDetail>> =>
      (await browse.ask(`/api/skills/net-get${query}`)).json();
    const whole = await partOf("");
    const always = ["row", "scripts", "files", "filesOmitted", "digest"];
    expect(Object.keys(await partOf("?part=license&part=unknown"))).toEqual([...always, "license"]);
    expect(Object.keys(await partOf("?part=overview"))).toEqual([...always, "instructions", "hidden"]);
    expect(Object.keys(await partOf("?part=permissions"))).toEqual([...always, "nonce", "permissions"]);
    expect(await partOf("?part=run")).toMatchObject({ digest: whole.digest, nonce: whole.nonce, inputs: { url: {} } });
  });

  it("names what hides in its text, and shows its frontmatter as written", async () => {
    const tags = Array.from("run rm", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
    const body = `a\u200b\u200bb <!-- do it -->\n\`\`\`html\n<!-- seen -->\n\`\`\`\n\u202etxt${tags}\u0007\n<!-- open`;
    browse = await openBrowse({ skills: { "odd/SKILL.md": skillText("odd", "x-own: [1, two]\n", body) } });
    const { hidden, instructions, frontmatter } = await detailOf("odd");
    expect(instructions.markdown).toBe(body);
    expect(hidden.map(({ kind, text }) => [kind, text])).toEqual([
      ["zero-width", "U+200B U+200B"],
      ["comment", "<!-- do it -->"],
      ["bidi", "U+202E"],
      ["tag-characters", "run rm"],
      ["control", "U+0007"],
      ["comment", "<!-- open"],
    ]);
    for (const { start, end, kind, text } of hidden)
      if (kind === "comment") expect(instructions.markdown.slice(start, end)).toBe(text);
    expect(frontmatter).toMatchObject({ name: "odd", "x-own": ["1", "two"] });
  });

  it("that is not offered is shown with its problems and the lines around them", async () => {
    browse = await openBrowse({ skills: { "bad/SKILL.md": "---\nname: bad\n---\nNo description.\n" } });
    const [row] = await rowsNow();
    const detail = await detailOf(row?.id ?? "");
    expect(detail.problems[0]).toMatchObject({ code: "description-missing", severity: "error" });
    expect(detail.problems[0]?.frame[0]).toEqual({ line: 1, text: "---" });
    expect(detail.instructions.markdown).toBe("No description.\n");
    expect(detail.digest).toBeUndefined();
    const id = encodeURIComponent(row?.id ?? "");
    expect((await browse.ask(`/api/skills/${id}/files?path=SKILL.md`)).json().content).toContain("name: bad");
    expect((await decide(id, { decision: "approve", nonce: "x" })).status).toBe(400);
  });

  it("is not found by a name that nothing has", async () => {
    browse = await openBrowse();
    const answer = await browse.ask("/api/skills/pfd");
    expect([answer.status, answer.json().error.code]).toEqual([404, "SKILL_NOT_FOUND"]);
  });

  it("of 16 MiB is cut, and says so", async () => {
    browse = await openBrowse({ skills: { "big/SKILL.md": skillText("big", "", "ä".repeat(8 * 1024 * 1024)) } });
    const { instructions } = await detailOf("big");
    expect(instructions.isWhole).toBe(false);
    expect(Buffer.byteLength(instructions.markdown)).toBeLessThanOrEqual(1024 * 1024);
    expect(instructions.markdown.endsWith("ä")).toBe(true);
    const file = (await browse.ask("/api/skills/big/files?path=SKILL.md")).json();
    expect(file).toMatchObject({ truncated: true, encoding: "utf-8" });
    expect(file.content.length).toBeLessThanOrEqual(256 * 1024);
  });
});

describe("files", () => {
  it("are answered as JSON only, whatever they are", async () => {
    browse = await openBrowse({
      skills: {
        "pdf/SKILL.md": skillText("pdf"),
        "pdf/x.html": "<script>alert(1)</script>",
        "pdf/b.bin": new Uint8Array([0, 255]),
      },
    });
    const html = await browse.ask("/api/skills/pdf/files?path=x.html");
    expect(html.headers["content-type"]).toBe("application/json");
    expect(html.json()).toEqual({
      content: "<script>alert(1)</script>",
      encoding: "utf-8",
      sizeBytes: 25,
      truncated: false,
    });
    expect((await browse.ask("/api/skills/pdf/files?path=b.bin")).json()).toMatchObject({
      content: "AP8=",
      encoding: "base64",
    });
  });

  it("are those of the skill, and no others", async () => {
    browse = await openBrowse({
      skills: { "pdf/SKILL.md": skillText("pdf"), "other/SKILL.md": skillText("other"), "pdf/.env": "KEY=1" },
    });
    const paths = ["../other/SKILL.md", "/etc/passwd", "~/x", "a\\b", "", ".env", "none.md", "x/../../other/SKILL.md"];
    for (const file of paths) {
      const target = `/api/skills/pdf/files?path=${encodeURIComponent(file)}`;
      expect([file, (await browse.ask(target)).status >= 400]).toEqual([file, true]);
      const opened = await browse.post("/api/skills/pdf/open", { path: file });
      expect([file, opened.status >= 400, opened.text.includes("No editor")]).toEqual([file, true, false]);
    }
  });
});

describe("decisions", () => {
  it("approve exactly the bytes that were shown, are recorded in the ledger, and can be taken back", async () => {
    browse = await openBrowse({ skills: wanting });
    const shown = await detailOf("net-get");
    const { digest, nonce } = shown;
    const approved = await decide("net-get", { decision: "approve", digest, nonce });
    expect(approved.status).toBe(200);
    expect(await stateOf("net-get")).toBe("ok");
    const { permissions } = await detailOf("net-get");
    expect(permissions.grants).toMatchObject([
      {
        version: "1.0.0",
        digest,
        isCurrent: true,
        words: ["can read the value of API_KEY", "may connect to api.example.com"],
      },
    ]);
    const entries = [];
    for await (const entry of browse.app.ledger.read()) entries.push(entry);
    expect(entries).toMatchObject([{ event: "answer", answer: "trust", outcome: "allowed", door: "browser", digest }]);
    const file = JSON.parse(readFileSync(path.join(browse.dataDirectory, "trust/everywhere.json"), "utf8")) as {
      grants: { via: string }[];
    };
    expect(file.grants[0]?.via).toBe("browser");

    const grant = permissions.grants[0]?.id;
    expect((await decide("net-get", { decision: "revoke", digest, nonce, grant })).status).toBe(200);
    expect(await stateOf("net-get")).toBe("needs-approval");
    expect((await detailOf("net-get")).permissions.grants).toEqual([]);
  });

  it.each([
    ["a manifest", "net-get", "skill.toml", action("1.0.0", network)],
    ["frontmatter", "get", "SKILL.md", plain],
  ])(
    "are about what the files of the digest declare in %s, also before the list was read again",
    async (_in, id, file, text) => {
      const clock = manualClock();
      browse = await openBrowse({ skills: { ...wanting, "get/SKILL.md": plain }, clock });
      expect((await detailOf(id)).permissions.wants.secrets).toEqual(["API_KEY"]);
      browse.write(`${id}/${file}`, text.replace("API_KEY", "OTHER_KEY"));
      let detail: SkillDetail | undefined;
      void detailOf(id).then((read) => (detail = read));
      await expect
        .poll(() => {
          clock.pass(10);
          return detail?.digest;
        }, patience)
        .toBeDefined();
      expect(detail?.permissions.wants.secrets).toEqual(["OTHER_KEY"]);
    },
  );

  it("about bytes that are no longer there are stale", async () => {
    browse = await openBrowse({ skills: wanting });
    const { digest, nonce } = await detailOf("net-get");
    browse.write("net-get/code/main.py", "import os\n");
    for (const decision of ["approve", "once", "block", "revoke", "unblock"]) {
      const answer = await decide("net-get", { decision, digest, nonce, grant: "x" });
      expect([decision, answer.status, answer.json().error]).toEqual([
        decision,
        409,
        { code: "STALE", message: "The skill changed since you looked at it; read it again." },
      ]);
    }
    expect(existsSync(path.join(browse.dataDirectory, "trust/everywhere.json"))).toBe(false);
  });

  it("need the nonce of this skill with this digest", async () => {
    browse = await openBrowse({ skills: { ...wanting, "pdf/SKILL.md": skillText("pdf") } });
    const [shown, other] = [await detailOf("net-get"), await detailOf("pdf")];
    const { digest, nonce } = shown;
    for (const wrong of [
      { digest, nonce: other.nonce },
      { digest, nonce: "" },
      { digest, nonce: `${nonce ?? ""}x` },
      { digest: other.digest, nonce },
      { nonce },
    ])
      expect((await decide("net-get", { decision: "approve", ...wrong })).status).toBe(403);
    expect((await decide("pdf", { decision: "block", digest, nonce })).status).toBe(403);
    expect((await decide("net-get", { decision: "approve", digest })).status).toBe(400);
    expect((await decide("net-get", { decision: "always", digest, nonce })).status).toBe(400);
    expect(await stateOf("pdf")).toBe("ok");
  });

  it("block and unblock every version", async () => {
    browse = await openBrowse();
    const { digest, nonce } = await detailOf("pdf");
    expect((await decide("pdf", { decision: "block", digest, nonce })).status).toBe(200);
    expect(await stateOf("pdf")).toBe("blocked");
    expect((await detailOf("pdf")).permissions.isBlocked).toBe(true);
    expect((await decide("pdf", { decision: "once", digest, nonce })).status).toBe(403);
    expect((await decide("pdf", { decision: "unblock", digest, nonce })).status).toBe(200);
    expect(await stateOf("pdf")).toBe("ok");
  });

  it("show what changed since the version that was approved", async () => {
    browse = await openBrowse({ skills: wanting });
    const { digest, nonce } = await detailOf("net-get");
    await decide("net-get", { decision: "approve", digest, nonce });
    const events = await browse.events();
    await events.next("reset");
    browse.write("net-get/skill.toml", action("1.1.0", network.replace("example.com", "example.org")));
    await events.next("skill");
    await expect.poll(() => stateOf("net-get"), patience).toBe("changed");
    const { permissions } = await detailOf("net-get");
    expect(permissions.widened).toEqual(["may connect to api.example.org"]);
    expect(permissions.changedFiles.map(({ path: file }) => file)).toEqual(["skill.toml"]);
    expect(permissions.changedFiles[0]?.diff).toContain('+network = ["https://api.example.org"]');
    expect(permissions.grants[0]?.isCurrent).toBe(false);
    events.close();
  });

  it("and runs are JSON, which no form of another page can send", async () => {
    browse = await openBrowse();
    for (const target of ["/api/skills/pdf/decision", "/api/runs", "/api/sources/discover"]) {
      const answer = await browse.post(target, {}, { headers: { "content-type": "text/plain" } });
      expect([target, answer.status, answer.json().error.message]).toEqual([
        target,
        400,
        "Send the request with Content-Type: application/json.",
      ]);
    }
  });

  it("have bodies of at most 64 KiB of JSON", async () => {
    browse = await openBrowse();
    const send = (body: string, type = "application/json") =>
      browse.ask("/api/skills/pdf/decision", { method: "POST", body, headers: { "content-type": type } });
    for (const [body, type] of [
      ["{", undefined],
      ["[]", undefined],
      ['{"decision":"block","nonce":""}', "text/plain"],
      ['{"decision":"block","nonce":"","more":1}', undefined],
    ] as const)
      expect((await send(body, type)).status).toBe(400);
    expect((await send(`{"decision":"${"x".repeat(70_000)}"}`)).status).toBe(413);
    expect(await stateOf("pdf")).toBe("ok");
  });
});

describe("events", () => {
  it("announce a change on disk with whole rows, once", async () => {
    browse = await openBrowse();
    const before = ((await browse.ask("/api/skills")).json() as unknown as SkillList).revision;
    const events = await browse.events();
    await expect
      .poll(async () => ((await browse.ask("/api/skills")).json() as unknown as SkillList).revision)
      .toBeGreaterThanOrEqual(before);
    await events.next("reset");
    browse.write("new/SKILL.md", skillText("new"));
    const { data: added } = await events.next("skills");
    expect(added.put).toMatchObject([{ id: "new", state: "ok" }]);
    browse.remove("pdf");
    const { data: removed } = await events.next("skills");
    expect([removed.removed, removed.revision]).toEqual([["pdf"], added.revision + 1]);
    events.close();
  });

  it("give a page that was away what it has missed, and one that was away too long a reset", async () => {
    browse = await openBrowse();
    const first = await browse.events();
    await first.next("reset");
    browse.write("a/SKILL.md", skillText("a"));
    const { id } = await first.next("skills");
    browse.write("b/SKILL.md", skillText("b"));
    await first.next("skills");
    first.close();
    const again = await browse.events({ "last-event-id": id });
    expect((await again.next("skills")).data.put).toMatchObject([{ id: "b" }]);
    again.close();
    const stranger = await browse.events({ "last-event-id": "abc-1" });
    const { revision } = (await browse.ask("/api/skills")).json() as unknown as SkillList;
    expect((await stranger.next("reset")).data).toEqual({ revision });
    stranger.close();
  });

  it("say to read the list where more than 500 rows change at once", async () => {
    browse = await openBrowse();
    const events = await browse.events();
    const { data: first } = await events.next("reset");
    for (let count = 0; count < 600; count++) browse.write(`s${count}/SKILL.md`, skillText(`s${count}`));
    await expect.poll(async () => (await rowsNow()).length, patience).toBe(601);
    const { data } = await events.next("reset");
    expect(data.revision).toBeGreaterThan(first.revision);
    events.close();
  });

  it("have at most 16 readers", async () => {
    browse = await openBrowse();
    const open = await Promise.all(Array.from({ length: 17 }, () => browse.events()));
    expect(open.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 16 }, () => 200), 503]);
    for (const { close } of open) close();
    await expect.poll(async () => (await browse.events()).status).toBe(200);
  });

  it("announce when a file changes of a skill that a page reads, though the list stays as it is", async () => {
    browse = await openBrowse({ skills: { "pdf/SKILL.md": skillText("pdf"), "pdf/docs/a.md": "one" } });
    const { digest, nonce } = await detailOf("pdf");
    const events = await browse.events();
    await events.next("reset");
    browse.write("pdf/docs/a.md", "another");
    expect((await events.next("skill")).data).toEqual({ id: "pdf" });
    expect((await decide("pdf", { decision: "block", digest, nonce })).status).toBe(409);
    events.close();
  });

  it("announce what another process decided", async () => {
    browse = await openBrowse({ skills: wanting });
    const { digest, nonce } = await detailOf("net-get");
    await decide("net-get", { decision: "approve", digest, nonce });
    const events = await browse.events();
    await events.next("reset");
    const { diskApprovals } = await import("../../../../src/runtime/trust/approvals/disk-approvals.ts");
    const store = diskApprovals(path.join(browse.dataDirectory, "trust"), { log: () => undefined });
    await store.change("everywhere", (before) => ({ ...before, grants: [] }));
    expect((await events.next("skills")).data.put).toMatchObject([{ id: "net-get", state: "needs-approval" }]);
    events.close();
  });
});
