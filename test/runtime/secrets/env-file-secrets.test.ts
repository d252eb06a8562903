import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { envFileSecrets } from "../../../src/runtime/secrets.ts";
import { describeSecretSource } from "../../contract/secret-source.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const skill = "a.b";

function write(content: string | Uint8Array, file = "secrets.env", directory = temporaryDirectory()): string {
  const target = path.join(directory, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
  return target;
}

describeSecretSource("a file", (values) =>
  envFileSecrets(
    write(
      Object.entries(values)
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(""),
    ),
  ),
);

test("reads comments, `export`, quotes and multi-line values", async () => {
  const source = envFileSecrets(
    write('# comment\nexport A=plain # comment\nB=\'single "x"\'\nC="two\nlines"\n\nD=x=y\n'),
  );
  const values = await Promise.all(["A", "B", "C", "D"].map((name) => source(name, skill)));
  expect(values).toEqual(["plain", 'single "x"', "two\nlines", "x=y"]);
});

test("reads the file again for each value", async () => {
  const file = write("A=one\n");
  const source = envFileSecrets(file);
  expect(await source("A", skill)).toBe("one");
  writeFileSync(file, "A=two\n");
  expect(await source("A", skill)).toBe("two");
});

describe("refuses", () => {
  test.each(["SKILL.md", "skill.md", "skill.toml"])("a file below a directory that contains %s", async (marker) => {
    const directory = temporaryDirectory();
    write("", marker, directory);
    const file = write("A=s3cr3t\n", "config/deep/.env", directory);
    const reading = envFileSecrets(file)("A", skill);
    await expect(reading).rejects.toMatchObject({ code: "UNREADABLE", facts: { path: file } });
    await expect(reading).rejects.toThrow(/inside the skill/);
  });

  test("a link into a skill", async () => {
    const skill = temporaryDirectory();
    write("", "SKILL.md", skill);
    const link = path.join(temporaryDirectory(), ".env");
    symlinkSync(write("A=s3cr3t\n", ".env", skill), link);
    await expect(envFileSecrets(link)("A", skill)).rejects.toThrow(/inside the skill/);
  });

  test("a missing file, a directory, a file that is too large and one that is not UTF-8", async () => {
    const large = write("A=s3cr3t\n");
    truncateSync(large, 2 * 1024 * 1024);
    const directory = temporaryDirectory();
    for (const file of [path.join(directory, "absent"), directory, large, write(Uint8Array.of(65, 61, 255, 10))]) {
      await expect(envFileSecrets(file)("A", skill)).rejects.toMatchObject({ code: "UNREADABLE" });
    }
  });

  test.skipIf(process.platform === "win32")("a FIFO, without blocking", async () => {
    const fifo = path.join(temporaryDirectory(), "fifo");
    execFileSync("mkfifo", [fifo]);
    await expect(envFileSecrets(fifo)("A", skill)).rejects.toThrow(/not a file/);
  });

  test("without disclosing a value in the error", async () => {
    const file = write(Buffer.from([...Buffer.from("A=s3cr3t\n"), 255]));
    const error: unknown = await envFileSecrets(file)("A", skill).catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error) + String(error)).not.toContain("s3cr3t");
  });
});

test("reads a link inside a skill that points outside it", async () => {
  const skill = temporaryDirectory();
  write("", "SKILL.md", skill);
  const link = path.join(skill, ".env");
  symlinkSync(write("A=s3cr3t\n"), link);
  expect(await envFileSecrets(link)("A", skill)).toBe("s3cr3t");
});
