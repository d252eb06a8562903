import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRequirements } from "../../../../src/runtime/sandbox/requirements.ts";

const parse = (text: string): ReturnType<typeof parseRequirements> => parseRequirements(Buffer.from(text));
const digest = "0".repeat(64);

describe("parseRequirements", () => {
  test.each([
    "requests",
    "requests==2.31.0",
    "requests >= 2.31, < 3",
    "requests (>=2.31,<3)",
    "requests[socks,security]~=2.31",
    "zope.interface!=5.0.*",
    "ruamel-yaml===0.17",
    "torch==2.3.0+cpu",
    'pywin32>=306; sys_platform == "win32"',
    "tomli>=2; python_version < '3.11' and (os_name == \"posix\" or extra == 'x-y')",
    "a",
  ])("keeps %s", (line) => {
    expect(parse(line)).toEqual({ requirements: [line], faults: [] });
  });

  test("drops comments and empty lines, and joins continued lines", () => {
    const text = `\uFEFF# coding: utf-7\n\nrequests==2.31.0  # why\r\npinned==1.0 \\\n    --hash=sha256:${digest} \\\n\t--hash=sha256:${digest}\n# end \\\nlast\n`;
    expect(parse(text)).toEqual({
      requirements: ["requests==2.31.0", `pinned==1.0 --hash=sha256:${digest} --hash=sha256:${digest}`, "last"],
      faults: [],
    });
  });

  test.each([
    "--index-url https://evil.example/simple",
    "--extra-index-url=https://evil.example/simple",
    "-i https://evil.example/simple",
    "--no-binary :all:",
    "--only-binary=:none:",
    "--find-links /tmp",
    "--trusted-host evil.example",
    "--pre",
    "-r ../../other.txt",
    "-r/etc/passwd",
    "-c constraints.txt",
    "-e .",
    "--editable git+https://evil.example/x",
    "requests --no-binary=:all:",
    "requests --global-option=build",
    'requests --config-settings "x=y"',
    "requests --hash=md5:abc",
    `requests --hash=sha256:${digest} --no-binary=:all:`,
    'requests; python_version > " --no-binary=:all: "',
    "https://evil.example/x-1.0-py3-none-any.whl",
    "x @ https://evil.example/x-1.0.tar.gz",
    "x@file:///etc/passwd",
    "git+https://evil.example/x.git",
    "file:///etc/passwd",
    "./local",
    "../local",
    "/etc/passwd",
    "C:\\local",
    "sub/dir",
    ".",
    "requests==${HOME}",
    "$HOME",
    "réquests",
    "requests requests",
    "requests=2",
    "requests>=",
    "[extra]",
    "requests\u00a0==2",
    "requests\0",
    "requests; \u2028--pre",
    "== 1",
  ])("refuses %j", (line) => {
    const { requirements, faults } = parse(`good==1\n${line}\n`);
    expect(requirements).toEqual(["good==1"]);
    expect(faults).toEqual([{ line: 2, why: expect.any(String) as string }]);
  });

  test.each([
    ["spaces", `a${" ".repeat(65_000)}b`],
    ["spaces and a comment", `a${" ".repeat(65_000)}!#`],
    ["tabs before an option", `a${"\t ".repeat(32_000)}-x`],
    ["an unterminated name", `${"a-".repeat(32_000)}!`],
    ["unterminated extras", `a[${"b,".repeat(32_000)}!`],
    ["unterminated versions", `a${"==1,".repeat(16_000)}!`],
    ["continued lines", `a${"\\\n".repeat(32_000)}!`],
  ])("parses %s in linear time", (_what, text) => {
    expect(parseRequirements(Buffer.from(text)).faults).toHaveLength(1);
  });

  test("refuses an option in a continued line, and reports the line where it starts", () => {
    expect(parse("good\n\\\n--pre\n").faults).toMatchObject([{ line: 2 }]);
    expect(parse("good \\\n --pre\n").faults).toMatchObject([{ line: 1 }]);
    expect(parse("--pre \\").faults).toMatchObject([{ line: 1 }]);
  });

  test("refuses files that are not UTF-8 or too large", () => {
    expect(parseRequirements(Uint8Array.of(255, 254, 45, 0)).faults).toHaveLength(1);
    expect(parse("a\n".repeat(40_000)).faults).toHaveLength(1);
  });

  test("never returns a requirement with an option other than --hash, a URL, a path or a variable", () => {
    const piece = fc.constantFrom(
      "a",
      "requests",
      "==1",
      " ",
      "\\\n",
      "\n",
      "#",
      ";",
      "'",
      '"',
      "--pre",
      "-r x",
      "@",
      "/",
      "${A}",
      "$",
      ":",
      "\t",
      "\r",
      "--hash=sha256:",
      digest,
      "(",
      ")",
      "[x]",
      "é",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const requirement of parse(pieces.join("")).requirements) {
          const plain = requirement.replaceAll(/ --hash=sha(256|384|512):[0-9a-f]{64,128}(?= |$)/g, "");
          expect(plain).toMatch(/^[A-Za-z0-9]/);
          expect(plain).not.toMatch(/\s-|[^ -~]|[@/\\$#:]|\n/);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
