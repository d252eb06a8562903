import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkCollisions, checkPath, remotePathFault } from "../../../src/sources/archive/check-path.ts";

describe("remotePathFault", () => {
  test.each([
    ["SKILL.md"],
    ["references/guide.md"],
    [".claude-plugin/plugin.json"],
    ["scripts/.gitignore"],
    ["a b/ü.txt"],
    ["日本語/説明.md"],
    ["console.log"],
    ["nullable/com.txt"],
    ["com10.txt"],
    ["...rest"],
    [`${"a/".repeat(255)}ab`],
  ])("accepts %j", (path) => {
    expect(remotePathFault(path)).toBeUndefined();
  });

  test.each([
    ["", "is empty"],
    ["/etc/passwd", "is absolute"],
    ["//host/share", "is absolute"],
    ["../x", "has a segment .."],
    ["a/../../x", "has a segment .."],
    ["a/..", "has a segment .."],
    ["./x", "has a segment ."],
    ["a//b", "has an empty segment"],
    ["a/", "has an empty segment"],
    ["a\\..\\b", "contains a backslash"],
    ["C:/windows", "starts with a drive letter"],
    ["c:x", "starts with a drive letter"],
    ["a\0b", "contains a control character or an invisible one"],
    ["a\nb", "contains a control character or an invisible one"],
    ["a\u001bb", "contains a control character or an invisible one"],
    ["a\u202etxt.exe", "contains a control character or an invisible one"],
    ["a\ud800", "contains a control character or an invisible one"],
    [".git/hooks/pre-commit", "leads into a directory of git"],
    ["a/.GIT/config", "leads into a directory of git"],
    [".g\u200cit/config", "contains a control character or an invisible one"],
    ["git~1/config", "leads into a directory of git"],
    [".git", "leads into a directory of git"],
    [".git./config", "leads into a directory of git"],
    [".git /config", "leads into a directory of git"],
    [".git::$INDEX_ALLOCATION/config", "leads into a directory of git"],
    ["a.txt:stream", "not a valid name on Windows"],
    ["what?.md", "not a valid name on Windows"],
    ["CON", "is a device on Windows"],
    ["a/nul.txt", "is a device on Windows"],
    ["com1.tar.gz", "is a device on Windows"],
    ["LPT¹", "is a device on Windows"],
    ["aux .txt", "is a device on Windows"],
    ["a".repeat(513), "has more than 512 characters"],
    ["a".repeat(256), "has a segment of more than 255 bytes"],
    ["ü".repeat(128), "has a segment of more than 255 bytes"],
  ])("refuses %j", (path, fault) => {
    expect(remotePathFault(path)).toContain(fault);
  });

  test("accepts only what stays below its directory, whatever the text", () => {
    const piece = fc.constantFrom("a", "..", ".", "/", "\\", ":", "C", "\0", ".git", " ", "é", "\u202e");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece).map((pieces) => pieces.join("")),
          fc.string({ unit: "binary" }),
        ),
        (path) => {
          if (remotePathFault(path) !== undefined) return;
          const resolved = new URL(path.split("/").map(encodeURIComponent).join("/"), "file:///root/");
          expect(resolved.pathname.startsWith("/root/")).toBe(true);
          expect(path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..")).toBe(true);
          expect(Buffer.from(path).toString()).toBe(path);
        },
      ),
    );
  });
});

test("checkPath names the path, shortened, and what it is in", () => {
  expect(() => checkPath("../x", "archive")).toThrow('The archive has an unusable path: "../x" has a segment ...');
  expect(() => checkPath("x/".repeat(10_000), "index")).toThrow(
    /^The index has an unusable path: ".{120}…" has more than/,
  );
});

describe("checkCollisions", () => {
  const toFiles = (paths: readonly string[]) => paths.map((path) => ({ path }));

  test.each([
    [["a", "a"], "is there twice"],
    [["README.md", "readme.md"], 'names the same file as "README.md" on some file systems'],
    [["Docs/a", "docs/b"], 'names the same file as "Docs"'],
    [["\u00e9.md", "e\u0301.md"], "names the same file"],
    [["straße", "STRASSE"], "names the same file"],
    [["straße", "STRAẞE"], "names the same file"],
    [["STRAẞE", "strasse"], "names the same file"],
    [["ﬁle", "file"], "names the same file"],
    [["a", "a/b"], "is there twice"],
    [["a/b", "a"], "is there twice"],
    [["a/b/c", "A/b"], 'names the same file as "a"'],
  ])("refuses %j", (paths, fault) => {
    expect(() => checkCollisions(toFiles(paths), "archive")).toThrow(fault);
  });

  test("accepts different names in any order", () => {
    expect(() => checkCollisions(toFiles(["a/b", "a/c", "b", "a/d/e", "a/d/f"]), "archive")).not.toThrow();
  });

  test("takes time in proportion to the paths", () => {
    const deep = Array.from({ length: 1_000 }, (_, index) => ({ path: `${"a/".repeat(250)}${index}` }));
    expect(() => checkCollisions(deep, "archive")).not.toThrow();
  });
});
