import { expect, test } from "vitest";
import { SkillsError, type SkillsErrorCode } from "../../src/base/errors.ts";
import { toWireError } from "../../src/wire/error-table.ts";

function tell(error: unknown) {
  const logged: string[] = [];
  const options = { log: (_level: string, message: string) => void logged.push(message), newErrorId: () => "err_1" };
  return { wire: toWireError(error, options), logged };
}

const numbers: readonly [number, readonly SkillsErrorCode[]][] = [
  [-32700, ["PARSE_ERROR"]],
  [-32600, ["INVALID_REQUEST"]],
  [-32601, ["METHOD_NOT_FOUND"]],
  [
    -32602,
    [
      "VALIDATION_ERROR",
      "SKILL_NOT_FOUND",
      "VERSION_NOT_FOUND",
      "FILE_NOT_FOUND",
      "BLOB_NOT_FOUND",
      "INVALID_PATH",
      "INVALID_CURSOR",
      "NOT_EXECUTABLE",
      "UNSUPPORTED_LANGUAGE",
      "FILE_TOO_LARGE",
      "BLOB_TOO_LARGE",
      "QUOTA_EXCEEDED",
    ],
  ],
  [-32001, ["AUTH_REQUIRED", "PERMISSION_DENIED"]],
  [-32000, ["RUNTIME_BUSY", "SANDBOX_UNAVAILABLE", "SECRET_MISSING", "SKILL_NOT_READY"]],
];

test.each(numbers.flatMap(([number, codes]) => codes.map((code) => [code, number] as const)))(
  "maps %s to %i with its message and code",
  (code, number) => {
    const { wire, logged } = tell(new SkillsError(code, "A sentence."));
    expect(wire).toMatchObject({ code: number, message: "A sentence.", data: { code } });
    expect(typeof wire.data.retryable).toBe("boolean");
    expect(logged).toEqual([]);
  },
);

test("sends only facts that callers may use", () => {
  const violations = [{ field: "/limit", expected: "a whole number", actual: 0 }];
  const facts = { hint: "h", available: ["a"], violations, path: "/home/someone", retryable: true };
  const { wire } = tell(new SkillsError("VALIDATION_ERROR", "m", { facts }));
  expect(wire.data).toEqual({ code: "VALIDATION_ERROR", hint: "h", available: ["a"], violations, retryable: true });
});

test("sends at most ten available names", () => {
  const available = Array.from({ length: 11 }, (_, index) => String(index));
  expect(tell(new SkillsError("SKILL_NOT_FOUND", "m", { facts: { available } })).wire.data.available).toHaveLength(10);
});

const unshowable = {
  toString() {
    throw new Error("no");
  },
};

test.each([
  ["an unknown error", new Error("ENOENT /home/someone/secret")],
  ["an error with a cause", new Error("x", { cause: new Error("/home/someone/secret") })],
  ["a string", "/home/someone/secret"],
  ["nothing", undefined],
  ["a value whose toString throws", unshowable],
  ["a code whose messages contain host paths", new SkillsError("UNREADABLE", "/home/someone/secret cannot be read")],
  ["an invalid option of ours", new SkillsError("INVALID_OPTIONS", "x")],
  ["an internal error without an id", new SkillsError("INTERNAL", "/home/someone/secret is damaged")],
])("responds to %s with an error id and logs the details", (_name, error) => {
  const { wire, logged } = tell(error);
  expect(wire).toEqual({
    code: -32603,
    message: "Internal error err_1. Details are in the log.",
    data: { code: "INTERNAL", error_id: "err_1", retryable: false },
  });
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("Internal error err_1: ");
});

test("does not log an internal error that already has an id", () => {
  const { wire, logged } = tell(new SkillsError("INTERNAL", "m", { facts: { errorId: "err_0" } }));
  expect(wire.data.error_id).toBe("err_0");
  expect(logged).toEqual([]);
});
