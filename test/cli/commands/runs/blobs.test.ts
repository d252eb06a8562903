import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { type DiskBlobOptions, diskBlobs } from "../../../../src/runtime/blobs/disk-blobs.ts";
import { type CliRun, runCli, startCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function blobs(...args: string[]): Promise<CliRun> {
  return await runCli(["blobs", ...args], { cwd: project.directory, env: { ACP_SKILLS_HOME: project.at("data") } });
}

/** Stores a blob like a session and returns its id. */
async function put(
  owner: string,
  kind: string,
  content: string | Uint8Array,
  options: DiskBlobOptions = {},
): Promise<string> {
  const store = diskBlobs(project.at("data", "blobs"), options);
  const { id } = await store.put(owner, kind, Buffer.from(content));
  await store.close();
  return id;
}

describe("acp-skills blobs", () => {
  test("list shows the blobs of all owners, oldest first", async () => {
    const now = Date.now();
    const second = await put("session:s1", "text/plain", "two", { diskNow: () => now });
    const first = await put("local", "image/png", new Uint8Array(9), { diskNow: () => now - 1_000 });
    const { code, stdout } = await blobs("list");
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s{2,}/));
    const expires = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/) as string;
    expect(rows).toEqual([
      ["ID", "BYTES", "EXPIRES", "OWNER", "KIND"],
      [first, "9", expires, "local", "image/png"],
      [second, "3", expires, "session:s1", "text/plain"],
    ]);
    const json = JSON.parse((await blobs("list", "--json")).stdout) as { blobs: object[] };
    expect(json.blobs[1]).toEqual({
      id: second,
      kind: "text/plain",
      size_bytes: 3,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      owner: "session:s1",
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + 24 * 60 * 60 * 1_000).toISOString(),
    });
  });

  test("list of an empty store reports that on stderr", async () => {
    expect(await blobs("list")).toEqual({ code: 0, stdout: "", stderr: "acp-skills: no blobs stored\n" });
    expect(JSON.parse((await blobs("list", "--json")).stdout)).toEqual({ schemaVersion: 1, blobs: [] });
  });

  test("show prints facts and a safe preview; read prints the bytes", async () => {
    const text = `\u001b[31mé${"x".repeat(3_000)}`;
    const id = await put("local", "text/plain", text);
    const { code, stdout } = await blobs("show", id);
    expect(code).toBe(0);
    expect(stdout).toContain(`id          ${id}\n`);
    expect(stdout).toContain("\\u{1b}[31méxxx");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain(`… (${Buffer.byteLength(text)} bytes; all of it: acp-skills blobs read ${id})\n`);
    expect((await blobs("read", id)).stdout).toBe(text);
    expect(JSON.parse((await blobs("show", id, "--json")).stdout)).toMatchObject({ id, size_bytes: text.length + 1 });
  });

  test("show does not print bytes that are not text", async () => {
    const id = await put("local", "application/octet-stream", new Uint8Array([0, 255]));
    expect((await blobs("show", id)).stdout).toContain("(not text)\n");
  });

  test("a reader that closes stdout early does not change the exit code", async () => {
    const id = await put("local", "application/octet-stream", new Uint8Array(4 * 1024 * 1024));
    const env = { ACP_SKILLS_HOME: project.at("data") };
    const child = startCli(["blobs", "read", id], { cwd: project.directory, env });
    let stderr = "";
    child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
    await once(child.stdout, "data");
    child.stdout.destroy();
    expect(await once(child, "close")).toEqual([0, null]);
    expect(stderr).toBe("");
  });

  test("rm deletes blobs, also after an id that does not exist", async () => {
    const [one, two] = [await put("a", "text/plain", "1"), await put("b", "text/plain", "2")];
    const absent = `blob:${"0".repeat(32)}`;
    expect(await blobs("rm", one, absent, two)).toEqual({
      code: 3,
      stdout: "",
      stderr: `acp-skills: no such blob: ${absent}; acp-skills blobs list shows all\n`,
    });
    expect(JSON.parse((await blobs("list", "--json")).stdout)).toEqual({ schemaVersion: 1, blobs: [] });
    expect(await blobs("show", one)).toMatchObject({
      code: 3,
      stdout: "",
      stderr: `acp-skills: no such blob: ${one}; acp-skills blobs list shows all\n`,
    });
  });

  test("sweep deletes expired blobs", async () => {
    await put("local", "text/plain", "old", { diskNow: () => Date.now() - 25 * 60 * 60 * 1_000 });
    await put("local", "text/plain", "new");
    expect(await blobs("sweep")).toEqual({ code: 0, stdout: "1 blob removed, 3 bytes freed\n", stderr: "" });
    const { stdout } = await blobs("sweep", "--json");
    expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, removed: 0, freed_bytes: 0, in_use: 0 });
  });

  test("an unusable data directory is reported in one line with exit code 3", async () => {
    project.write("data/blobs", "a file");
    const { code, stdout, stderr } = await blobs("list");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/^acp-skills: Blobs cannot be read: a file is in the place of their directory\. .*\n$/);
  });
});
