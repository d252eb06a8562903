import { expect, test } from "vitest";
import { findPython, readInterpreterReport } from "../../../src/runtime/sandbox/find.ts";

const answer = (name: string, version: number[]): string =>
  JSON.stringify([name, version, "/usr/bin/python3.x", "/usr"]);

test("accepts CPython 3.9 and later", () => {
  for (const version of [
    [3, 9, 0],
    [3, 14, 1],
  ]) {
    expect(readInterpreterReport("python3", answer("cpython", version))).toEqual({
      executable: "/usr/bin/python3.x",
      version: version.join("."),
      prefix: "/usr",
    });
  }
});

test.each([
  ["pypy", [3, 11, 0], "python3 is pypy, not CPython."],
  ["cpython", [3, 8, 18], "python3 is Python 3.8.18; 3.9 or later is required."],
  ["cpython", [2, 7, 18], "python3 is Python 2.7.18; 3.9 or later is required."],
])("rejects %s %j", (name, version, reason) => {
  expect(readInterpreterReport("python3", answer(name, version))).toEqual({ reason });
});

// The whole prefix is mounted in the sandbox.
test("rejects an interpreter whose prefix contains the home directory, unless it is /usr", () => {
  const homes = ["/home/me", "/usr/games"];
  const prefixed = (prefix: string) =>
    homes.map(
      (home) => "reason" in readInterpreterReport("p", JSON.stringify(["cpython", [3, 11, 0], "/p", prefix]), home),
    );
  expect(["/", "/home", "/home/me", "/home/me/.pyenv/versions/3.11", "/home/m", "/usr"].map(prefixed)).toEqual([
    [true, true],
    [true, false],
    [true, false],
    [false, false],
    [false, false],
    [false, false],
  ]);
});

test("does not fall back to another interpreter if the requested one does not run", async () => {
  expect(await findPython("/absent/python")).toEqual({
    reason: "/absent/python does not run, or its standard library is missing.",
  });
});
