import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { adding, blockOf, digestOf, grantOf, removing } from "./grant-of.ts";
import { approvalDirectories } from "./approvals-directory.ts";

const newDirectory = approvalDirectories();
const isPosix = process.platform !== "win32";
const isRoot = process.getuid?.() === 0;
const project = { project: "/home/ada/project" };
const now = (): number => Date.parse("2026-03-04T05:06:07.089Z");
const aside = "everywhere.json.damaged-2026-03-04T05-06-07.089Z";
const format = '"format": "acp-skills approvals 1"';

const write = (file: string, content: string | Uint8Array): void => {
  writeFileSync(file, content, { mode: 0o600 });
};

describe("a damaged file of approvals", () => {
  test.each([
    ["is empty", "", "it is not JSON (Unexpected end of JSON input)"],
    ["is cut", `{${format}, "grants": [`, "it is not JSON ("],
    ["is binary", Buffer.from([0xff, 0xfe, 0x00]), "it is not UTF-8"],
    ["is a list", "[]", "it is not valid (Invalid input"],
    ["is null", "null", "it is not valid (Invalid input"],
    ["is nested too deeply", "[".repeat(1_000_000), "it is not JSON ("],
    ["has no format", "{}", "format is not valid (Invalid input"],
    ["has an unknown key", `{${format}, "grant": []}`, 'it is not valid (Unrecognized key: "grant")'],
    ["has a bad grant", `{${format}, "grants": [{}]}`, "grants[0].id is not valid ("],
    ["has a bad block", `{${format}, "blocks": [{"skill": "a"}]}`, "blocks[0].from is not valid ("],
    ["has too many grants", `{${format}, "grants": [${"0,".repeat(2_000)}0]}`, "it has more than 2,000 grants"],
    ["has too many blocks", `{${format}, "blocks": [${"0,".repeat(1_000)}0]}`, "it has more than 1,000 blocks"],
    ["is too large", " ".repeat(4 * 1024 * 1024 + 1), "it has 4194305 bytes; the limit is 4194304"],
    ["is for a project", `{${format}, "project": "/a"}`, 'it is for the project "/a"'],
  ])("that %s grants nothing, is reported once, and is moved aside by the next change", async (_what, content, why) => {
    const { open, at, told } = newDirectory();
    const file = at("everywhere.json");
    write(file, content);
    const store = open({ now });
    for (let times = 0; times < 3; times++) {
      expect(await store.read("everywhere")).toMatchObject({ grants: [], blocks: [] });
      expect(await store.scopes()).toEqual([]);
    }
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(`warning ${file} is not used, so that nothing in it counts: ${why}`);
    expect(told[0]).toMatch(/\. Correct it, or remove it\.$/);
    expect(told[0]?.length).toBeLessThan(600);

    await store.change("everywhere", adding(grantOf(1)));
    expect((await store.read("everywhere")).grants).toEqual([grantOf(1)]);
    expect(readFileSync(at(aside)).equals(Buffer.from(content))).toBe(true);
    expect(told).toHaveLength(2);
    expect(told[1]).toContain(`was moved aside to ${at(aside)}`);
  });

  test("counts again when it was corrected, and is reported again when it is damaged again", async () => {
    const { open, at, told } = newDirectory();
    const store = open();
    await store.change("everywhere", adding(grantOf(1)));
    const text = readFileSync(at("everywhere.json"), "utf8");
    for (let times = 1; times <= 2; times++) {
      write(at("everywhere.json"), text.slice(0, -9));
      expect((await store.read("everywhere")).grants).toEqual([]);
      expect(told).toHaveLength(times);
      write(at("everywhere.json"), text);
      expect((await store.read("everywhere")).grants).toEqual([grantOf(1)]);
    }
  });

  test("is left as it is by a change that changes nothing", async () => {
    const { open, at } = newDirectory();
    write(at("everywhere.json"), "damaged");
    await open().change("everywhere", (before) => before);
    expect(readdirSync(at()).filter((name) => name.startsWith("everywhere"))).toEqual(["everywhere.json"]);
  });

  test("leaves the other scopes as they are", async () => {
    const { open, at, told } = newDirectory();
    const store = open();
    await store.change(project, adding(grantOf(1)));
    write(at("everywhere.json"), "damaged");
    expect((await store.read(project)).grants).toEqual([grantOf(1)]);
    expect(await store.scopes()).toEqual([project]);
    expect(told).toHaveLength(1);
  });

  test("grants nothing for any text, and all or nothing for any part of a file", async () => {
    const { open, at } = newDirectory();
    await open().change("everywhere", (before) => ({
      ...before,
      grants: [grantOf(1), grantOf(2)],
      blocks: [blockOf(1)],
    }));
    const good = readFileSync(at("everywhere.json"));
    const store = open();
    const part = fc.nat(good.length - 2).map((length) => good.subarray(0, length));
    const flipped = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 })).map(([index, bits]) => {
      const bytes = Buffer.from(good);
      bytes[index] = (bytes[index] ?? 0) ^ bits;
      return bytes;
    });
    const other = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(part, other), async (bytes) => {
        write(at("everywhere.json"), bytes);
        expect((await store.read("everywhere")).grants).toEqual([]);
      }),
    );
    await fc.assert(
      fc.asyncProperty(flipped, async (bytes) => {
        write(at("everywhere.json"), bytes);
        expect([0, 2]).toContain((await store.read("everywhere")).grants.length);
      }),
    );
  });
});

describe("a foreign file of approvals", () => {
  test("of another project, or of everywhere, grants nothing", async () => {
    const { open, at, told } = newDirectory();
    const store = open();
    await store.change(project, adding(grantOf(1)));
    await store.change("everywhere", adding(grantOf(2)));
    await store.change({ project: "/home/ada/other" }, adding(grantOf(3)));
    const [first = "", second = ""] = readdirSync(at("projects"));
    for (const [from, to] of [
      [at("projects", first), at("everywhere.json")],
      [at("projects", first), at("projects", second)],
    ] as const)
      cpSync(from, to);
    cpSync(at("projects", first), at("projects", `${"0".repeat(32)}.json`));
    const found = (await open().scopes()).flatMap((scope) => (scope === "everywhere" ? [] : [scope.project]));
    expect(found).toHaveLength(1);
    expect((await store.read("everywhere")).grants).toEqual([]);
    expect(told.filter((line) => line.includes("it is for the project"))).toHaveLength(4);
  });

  test("of a newer version of this program grants nothing and is never replaced", async () => {
    const { open, at, told } = newDirectory();
    const text = '{"format": "acp-skills approvals 2", "allowed": {}}';
    write(at("everywhere.json"), text);
    expect((await open().read("everywhere")).grants).toEqual([]);
    expect(told).toEqual([
      `warning ${at("everywhere.json")} is not used, so that nothing in it counts: it was written by another version of acp-skills (acp-skills approvals 2). Update acp-skills.`,
    ]);
    await expect(open().change("everywhere", adding(grantOf(1)))).rejects.toMatchObject({
      code: "UNREADABLE",
      message: `Nothing can be stored in ${at("everywhere.json")}: it was written by another version of acp-skills (acp-skills approvals 2).`,
      facts: { hint: "Update acp-skills." },
    });
    expect(readFileSync(at("everywhere.json"), "utf8")).toBe(text);
  });
});

describe("a file that others could have written", () => {
  async function expectRefused(
    prepare: (file: string, good: string) => void,
    why: RegExp,
    { isKept = true }: { readonly isKept?: boolean } = {},
  ): Promise<void> {
    const { open, at, told } = newDirectory();
    const file = at("everywhere.json");
    await open().change("everywhere", adding(grantOf(1)));
    const good = path.join(path.dirname(at()), "good.json");
    renameSync(file, good);
    prepare(file, good);
    const store = open();
    expect((await store.read("everywhere")).grants).toEqual([]);
    expect((await store.read("everywhere")).grants).toEqual([]);
    expect(told).toEqual([expect.stringMatching(why)]);
    await expect(store.change("everywhere", adding(grantOf(2)))).rejects.toMatchObject({ code: "UNREADABLE" });
    expect(existsSync(file)).toBe(isKept);
  }

  test.runIf(isPosix)("grants nothing if it is a link, and stays one", async () => {
    await expectRefused((file, good) => {
      symlinkSync(good, file);
    }, /it is a symlink\. Replace it by a file\.$/);
  });

  test.runIf(isPosix)("grants nothing if it is a FIFO, without blocking", async () => {
    await expectRefused((file) => {
      execFileSync("mkfifo", [file]);
    }, /it is not a regular file\. Replace it by a file\.$/);
  });

  test("grants nothing if it is a directory", async () => {
    await expectRefused((file) => {
      mkdirSync(file);
    }, /it (is not a regular file|cannot be read)/);
  });

  test.runIf(isPosix)("grants nothing if others may write in it, until they may not", async () => {
    const { open, at, told } = newDirectory();
    const store = open();
    await store.change("everywhere", adding(grantOf(1)));
    for (const mode of [0o620, 0o602, 0o666]) {
      chmodSync(at("everywhere.json"), mode);
      expect((await store.read("everywhere")).grants).toEqual([]);
      await expect(store.change("everywhere", adding(grantOf(2)))).rejects.toMatchObject({
        facts: { hint: expect.stringContaining(`chmod go-w ${at("everywhere.json")}`) as string },
      });
    }
    expect(told).toHaveLength(1);
    chmodSync(at("everywhere.json"), 0o644);
    expect((await store.read("everywhere")).grants).toEqual([grantOf(1)]);
  });

  test.runIf(isPosix)("grants nothing in a directory in which others may write", async () => {
    for (const names of [[], ["projects"]]) {
      const { open, at, told } = newDirectory();
      const store = open();
      await store.change(project, adding(grantOf(1)));
      chmodSync(at(...names), 0o777);
      expect((await store.read(project)).grants).toEqual([]);
      expect(told).toEqual([
        expect.stringContaining(`others may write in it; take that right away: chmod go-w ${at(...names)}`),
      ]);
      await expect(store.change(project, adding(grantOf(2)))).rejects.toMatchObject({ code: "UNREADABLE" });
      chmodSync(at(...names), 0o700);
      expect((await store.read(project)).grants).toEqual([grantOf(1)]);
    }
  });

  test.runIf(isRoot)("grants nothing if it belongs to another user", async () => {
    await expectRefused((file, good) => {
      cpSync(good, file);
      execFileSync("chown", ["12345", file]);
    }, /it belongs to another user\. Make it belong to you or to root\.$/);
  });
});

describe("a directory of approvals that cannot be used", () => {
  test("grants nothing and says why nothing can be stored", async () => {
    const { open, at } = newDirectory();
    rmSync(at(), { recursive: true });
    write(at(), "a file");
    const store = open();
    expect((await store.read("everywhere")).grants).toEqual([]);
    expect((await store.read(project)).grants).toEqual([]);
    expect(await store.scopes()).toEqual([]);
    expect(await store.readCopy(digestOf(1))).toBeUndefined();
    await store.keepCopy(digestOf(1), []);
    await expect(store.change("everywhere", adding(grantOf(1)))).rejects.toMatchObject({
      code: "UNREADABLE",
      message: expect.stringContaining(at("everywhere.json")) as string,
      facts: { hint: expect.stringContaining("try again") as string },
    });
    expect(readFileSync(at(), "utf8")).toBe("a file");
  });

  test("grants nothing where a file is in the place of the projects", async () => {
    const { open, at, told } = newDirectory();
    rmSync(at("projects"), { recursive: true });
    write(at("projects"), "a file");
    expect((await open().read(project)).grants).toEqual([]);
    expect(await open().scopes()).toEqual([]);
    expect(told.length).toBeGreaterThan(0);
  });
});

describe("a damaged copy of an approved version", () => {
  const files = [{ path: "a", sha256: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", text: "a" }];

  test.each([
    ["text that is no JSON", () => "damaged"],
    ["the copy of another version", (text: string) => text.replace(digestOf(1), digestOf(2))],
    ["nothing", () => ""],
    ["9 MiB", () => " ".repeat(9 * 1024 * 1024)],
  ])("that contains %s is not read, and is stored again", async (_what, change) => {
    const { open, at, told } = newDirectory();
    const store = open();
    await store.change(project, adding(grantOf(1)));
    await store.keepCopy(digestOf(1), files);
    const [name = ""] = readdirSync(at("copies"));
    write(at("copies", name), change(readFileSync(at("copies", name), "utf8")));
    expect(await store.readCopy(digestOf(1))).toBeUndefined();
    expect(told).toEqual([expect.stringContaining(at("copies", name))]);
    await store.keepCopy(digestOf(1), files);
    expect(await store.readCopy(digestOf(1))).toEqual(files);
  });

  test("shows no text that is not that of the file", async () => {
    const { open, at } = newDirectory();
    const store = open();
    await store.change(project, adding(grantOf(1)));
    await store.keepCopy(digestOf(1), files);
    const [name = ""] = readdirSync(at("copies"));
    write(at("copies", name), readFileSync(at("copies", name), "utf8").replace('"text": "a"', '"text": "b"'));
    expect(await store.readCopy(digestOf(1))).toEqual([{ path: "a", sha256: files[0]?.sha256 }]);
  });

  test("and any other are preserved while a file of approvals cannot be used", async () => {
    const { open, at } = newDirectory();
    const store = open();
    await store.change(project, adding(grantOf(1), grantOf(2)));
    await store.change("everywhere", adding(grantOf(1)));
    await store.keepCopy(digestOf(1), files);
    const text = readFileSync(at("everywhere.json"), "utf8");
    truncateSync(at("everywhere.json"), 9);
    await store.change(project, removing(1));
    expect(await store.readCopy(digestOf(1))).toEqual(files);
    write(at("everywhere.json"), text);
    await store.change(project, removing(2));
    expect(await store.readCopy(digestOf(1))).toEqual(files);
  });
});
