import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskSkillBytes, diskSkillFiles } from "../../../src/skills/files/disk-skill-files.ts";
import { type ByteTree, describeSkillBytes } from "../../contract/skill-bytes.ts";
import { describeSkillFiles } from "../../contract/skill-files.ts";

function makeRoot(): string {
  return realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-files-")));
}

describeSkillFiles("disk", () => {
  const root = makeRoot();
  const at = (name: string): string => {
    const target = path.join(root, name);
    mkdirSync(path.dirname(target), { recursive: true });
    return target;
  };
  return {
    root,
    files: diskSkillFiles(),
    write: (file, content) => writeFileSync(at(file), content),
    makeDirectory: (directory) => mkdirSync(at(directory)),
    link: (link, target) => symlinkSync(target, at(link)),
    makeOther: (file) => void execFileSync("mkfifo", [at(file)]),
    close: () => rmSync(root, { recursive: true, force: true }),
  };
});

it.skipIf(process.platform !== "linux")(
  "keeps at most two directories open while listing, and none afterwards",
  async () => {
    const root = makeRoot();
    writeFileSync(path.join(root, "SKILL.md"), "");
    const before = readdirSync("/proc/self/fd").length;
    const files = diskSkillFiles();
    for (let time = 0; time < 20; time++) files.list(root);
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before + 2);
    await Promise.resolve();
    expect(readdirSync("/proc/self/fd")).toHaveLength(before);
    rmSync(root, { recursive: true });
  },
);

describe("disk skill files", () => {
  let root = "";
  beforeAll(() => {
    root = makeRoot();
  });
  afterAll(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it("lists siblings one after another, and rejects a symlink that replaced one of them", () => {
    const names = ["a", "b", "c", "d"].map((name) => path.join(root, "siblings", name));
    for (const directory of names) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(path.join(directory, `in-${path.basename(directory)}`), "");
    }
    const files = diskSkillFiles();
    const list = (directory: string): string[] => files.list(directory).map(({ name }) => name);
    expect(names.slice(0, 3).map(list)).toEqual([["in-a"], ["in-b"], ["in-c"]]);
    rmSync(names[3] ?? "", { recursive: true });
    symlinkSync(root, names[3] ?? "");
    expect(() => files.list(names[3] ?? "")).toThrow(expect.objectContaining({ code: "UNREADABLE" }));
    expect(list(names[0] ?? "")).toEqual(["in-a"]);
  });

  it.skipIf(process.getuid?.() === 0)("lists subdirectories of a directory that is searchable but not readable", () => {
    const hidden = path.join(root, "hidden");
    const inside = ["a", "b", "c"].map((name) => path.join(hidden, name));
    for (const directory of inside) mkdirSync(directory, { recursive: true });
    chmodSync(hidden, 0o100);
    const files = diskSkillFiles();
    for (const directory of inside) expect(files.list(directory)).toEqual([]);
    chmodSync(hidden, 0o700);
  });

  it.runIf(process.platform === "linux")("distinguishes names that are not UTF-8, and from U+FFFD", () => {
    const directory = path.join(root, "bytes");
    mkdirSync(directory);
    for (const name of [[0xff], [0xfe], [0xc3, 0xa9, 0xff], [0xef, 0xbf, 0xbd]]) {
      writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name)]), "");
    }
    const entries = diskSkillFiles().list(directory);
    expect(entries.map(({ name }) => name).sort()).toEqual(["\udcc3\udca9\udcff", "\udcfe", "\udcff", "\ufffd"]);
    expect(entries.every(({ kind }) => kind === "file")).toBe(true);
  });

  it("reads only the head of a file of 2 GB", () => {
    const file = path.join(root, "big");
    writeFileSync(file, "---\nname: big\n");
    truncateSync(file, 2 ** 31 + 1);
    const { bytes, whole } = diskSkillFiles().head(file, 4096);
    expect(whole).toBe(false);
    expect(bytes.length).toBe(4096);
    expect(Buffer.from(bytes.subarray(0, 13)).toString()).toBe("---\nname: big");
  });

  it("rejects a device and a socket without blocking", async () => {
    const files = diskSkillFiles();
    expect(() => files.head("/dev/zero", 4096)).toThrow("not a regular file");
    const socket = path.join(root, "socket");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    expect(files.list(root).find((entry) => entry.name === "socket")?.kind).toBe("other");
    expect(() => files.head(socket, 4096)).toThrow("no such device or address");
    await new Promise((resolve) => server.close(resolve));
  });

  it.skipIf(process.getuid?.() === 0)("reports that permission was denied", () => {
    const directory = path.join(root, "closed");
    mkdirSync(directory, { mode: 0 });
    expect(() => diskSkillFiles().list(directory)).toThrow(`${directory} cannot be read: permission denied.`);
    chmodSync(directory, 0o700);
  });

  it("reports other file system errors with their code as reason", () => {
    expect(() => diskSkillFiles().list(path.join(root, "x".repeat(300)))).toThrow(
      expect.objectContaining({
        code: "UNREADABLE",
        facts: expect.objectContaining({ reason: "ENAMETOOLONG" }) as unknown,
      }),
    );
  });

  it("reads files of different sizes through the same buffer", () => {
    const files = diskSkillFiles();
    writeFileSync(path.join(root, "long"), "l".repeat(20_000));
    writeFileSync(path.join(root, "short"), "s");
    expect(files.head(path.join(root, "long"), 16_384)).toMatchObject({ whole: false, bytes: { length: 16_384 } });
    expect(Buffer.from(files.head(path.join(root, "short"), 4096).bytes).toString()).toBe("s");
    const { bytes, whole } = files.head(path.join(root, "long"), 32_768);
    expect([Buffer.from(bytes).toString(), whole]).toEqual(["l".repeat(20_000), true]);
  });
});

function openByteTree(): ByteTree {
  const root = makeRoot();
  let late = 0;
  return {
    root,
    bytes: diskSkillBytes({ now: () => Date.now() + late }),
    write: (file, content) => writeFileSync(path.join(root, file), content),
    makeDirectory: (directory) => mkdirSync(path.join(root, directory)),
    link: (link, target) => symlinkSync(target, path.join(root, link)),
    makeOther: (file) => void execFileSync("mkfifo", [path.join(root, file)]),
    grow: () => void (late += 1000),
    close: () => rmSync(root, { recursive: true }),
  };
}

describeSkillBytes("disk", openByteTree);

it("omits the version of a file written just now, because a second write might not change its timestamp", () => {
  const tree = openByteTree();
  tree.write("f", "x");
  expect(tree.bytes.stamp(path.join(tree.root, "f"))).toEqual({ size: 1, version: undefined });
  tree.close();
});

it("an abort stops hashing a large file", async () => {
  const tree = openByteTree();
  tree.write("f", Buffer.alloc(4 * 1024 * 1024));
  const controller = new AbortController();
  const digest = tree.bytes.sha256(path.join(tree.root, "f"), controller.signal);
  controller.abort(new Error("enough"));
  await expect(digest).rejects.toThrow("enough");
  tree.close();
});
