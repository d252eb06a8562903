import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readSettingsFile, writeSettingsFile } from "../../../../src/cli/commands/setup/settings-file.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const read = (file: string): string => readFileSync(project.at(file), "utf8");
const changed = /is not changed: it was changed at this moment; run the command again/;

describe("a file that changes between reading and writing is left as it is", () => {
  test("because it has another text", () => {
    const file = readSettingsFile(project.write("a.json", "{}"));
    writeFileSync(file.file, '{"mine": 1}');
    expect(() => {
      writeSettingsFile(file, "ours");
    }).toThrow(changed);
    expect(read("a.json")).toBe('{"mine": 1}');
  });

  test("because it appeared", () => {
    const file = readSettingsFile(project.at("new.json"));
    project.write("new.json", "theirs");
    expect(() => {
      writeSettingsFile(file, "ours");
    }).toThrow(changed);
    expect(read("new.json")).toBe("theirs");
  });

  test("because it was deleted", () => {
    const file = readSettingsFile(project.write("gone.json", "{}"));
    rmSync(file.file);
    expect(() => {
      writeSettingsFile(file, "ours");
    }).toThrow(changed);
    expect(readdirSync(project.directory)).not.toContain("gone.json");
  });

  test("because it is a link to another file now", () => {
    const file = readSettingsFile(project.write("b.json", "{}"));
    project.write("secret.json", "{}");
    rmSync(file.file);
    symlinkSync(project.at("secret.json"), file.file);
    expect(() => {
      writeSettingsFile(file, "ours");
    }).toThrow(changed);
    expect(read("secret.json")).toBe("{}");
  });

  test.each([
    ["a directory", (place: string) => mkdirSync(place), "it is not a file"],
    [
      "a link to nothing",
      (place: string) => {
        symlinkSync("nowhere", place);
      },
      "it is a link to a file that does not exist",
    ],
  ])("because %s took its place", (_what, make, reason) => {
    const file = readSettingsFile(project.write("c.json", "{}"));
    renameSync(file.file, project.at("moved.json"));
    make(file.file);
    expect(() => {
      writeSettingsFile(file, "ours");
    }).toThrow(reason);
    expect(read("moved.json")).toBe("{}");
  });
});

test("does not write a read-only file, and says how to allow it", () => {
  const file = readSettingsFile(project.write("fixed.json", "{}"));
  chmodSync(file.file, 0o444);
  expect(() => {
    writeSettingsFile(file, "ours");
  }).toThrow(`it is read-only; allow writing first: chmod u+w ${file.real}`);
  expect(() => {
    writeSettingsFile(file, null);
  }).toThrow("it is read-only");
  expect(read("fixed.json")).toBe("{}");
});

test("says if a file stands where its directory should be", () => {
  project.write("config", "");
  expect(() => readSettingsFile(project.at("config/settings.json"))).toThrow(
    "it cannot be read: a file stands where its directory should be",
  );
  symlinkSync("loop", project.at("loop"));
  expect(() => readSettingsFile(project.at("loop"))).toThrow("it cannot be read: it is a link to itself");
});

test("leaves nothing beside what it writes", () => {
  const directory = path.join(project.directory, "new", "deep");
  writeSettingsFile(readSettingsFile(path.join(directory, "a.json")), "1");
  writeSettingsFile(readSettingsFile(path.join(directory, "a.json")), "2");
  expect(readdirSync(directory)).toEqual(["a.json"]);
  expect(read("new/deep/a.json")).toBe("2");
  expect(lstatSync(path.join(directory, "a.json")).mode & 0o777).toBe(0o644);
});
