import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type KeychainPlatform, hasKeychain, keychainSecrets } from "../../../src/runtime/secrets.ts";
import { describeSecretSource } from "../../contract/secret-source.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const skill = "a.b";

/** A fake of the platform's keychain program: logs its arguments and runs `code`, which can use `name`. */
function standIn(code: string): { command: string; asked: () => string[][] } {
  const directory = temporaryDirectory();
  const command = path.join(directory, "keychain");
  const log = path.join(directory, "log");
  writeFileSync(log, "");
  writeFileSync(
    command,
    `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const args = process.argv.slice(2);
appendFileSync(${JSON.stringify(log)}, JSON.stringify(args) + "\\n");
const name = args.at(args[0] === "lookup" ? -1 : -2);
${code}
`,
  );
  chmodSync(command, 0o755);
  const lines = (): string[] =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  return { command, asked: () => lines().map((line) => JSON.parse(line) as string[]) };
}

const absent: Record<KeychainPlatform, string> = {
  darwin: 'console.error("could not be found in the keychain."); process.exit(44);',
  linux: "process.exit(1);",
};
const end: Record<KeychainPlatform, string> = { darwin: '"\\n"', linux: '""' };

describe.skipIf(process.platform === "win32").each(["darwin", "linux"] as const)("the keychain of %s", (platform) => {
  const open = (values: Readonly<Record<string, string>>): ReturnType<typeof standIn> =>
    standIn(`const values = ${JSON.stringify(values)};
      if (!Object.hasOwn(values, name)) { ${absent[platform]} }
      process.stdout.write(values[name] + ${end[platform]});`);

  describeSecretSource(platform, (values) => keychainSecrets(platform, { command: open(values).command }));

  test("is queried by service and name, and never for an invalid name", async () => {
    const { command, asked } = open({ A: "s3cr3t" });
    const source = keychainSecrets(platform, { command });
    await source("A", skill);
    await source("-w", skill);
    expect(asked()).toEqual([
      platform === "darwin"
        ? ["find-generic-password", "-s", "acp-skills", "-a", "A", "-w"]
        : ["lookup", "service", "acp-skills", "name", "A"],
    ]);
  });

  test("keeps the line breaks of a value", async () => {
    const source = keychainSecrets(platform, { command: open({ A: "two\nlines\n" }).command });
    expect(await source("A", skill)).toBe("two\nlines\n");
  });

  test("fails with an error that names the secret and the skill and contains none of the output", async () => {
    const { command } = standIn('process.stdout.write("s3cr3t"); console.error("s3cr3t is locked"); process.exit(51);');
    const error: unknown = await keychainSecrets(platform, { command })("A", skill).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "UNREADABLE", facts: { name: "A", skill: "a.b" } });
    expect(JSON.stringify(error) + String(error) + String((error as Error).cause)).not.toContain("s3cr3t");
  });

  test("rejects a value larger than 64 KiB", async () => {
    const { command } = standIn('process.stdout.write("x".repeat(100_000));');
    await expect(keychainSecrets(platform, { command })("A", skill)).rejects.toThrow(/64 KiB/);
  });

  test("returns undefined if its program is not installed", async () => {
    const command = path.join(temporaryDirectory(), "absent");
    expect(await keychainSecrets(platform, { command })("A", skill)).toBeUndefined();
  });
});

test("hasKeychain is true only on macOS and Linux", () => {
  expect((["darwin", "linux", "win32", "freebsd"] as const).filter(hasKeychain)).toEqual(["darwin", "linux"]);
});
