import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionRoots } from "../../../src/skills/skillset/roots.ts";

const posix = path.posix;

describe("sessionRoots", () => {
  it("puts explicit roots first, then the session's directories, then the home directory", () => {
    const { roots, problems } = sessionRoots({
      explicit: ["/x/one", "/x/two"],
      cwd: "/work",
      additionalDirectories: ["/more"],
      home: "/home/me",
      paths: posix,
    });
    expect(problems).toEqual([]);
    expect(roots).toEqual([
      { path: "/x/one", origin: "explicit" },
      { path: "/x/two", origin: "explicit" },
      { path: "/work/.agents/skills", origin: "project" },
      { path: "/work/.claude/skills", origin: "project" },
      { path: "/more/.agents/skills", origin: "project" },
      { path: "/more/.claude/skills", origin: "project" },
      { path: "/home/me/.agents/skills", origin: "user" },
      { path: "/home/me/.claude/skills", origin: "user" },
    ]);
  });

  it("uses only explicit roots if the defaults are disabled", () => {
    const { roots } = sessionRoots({ explicit: ["/x"], cwd: "/work", home: "/h", useDefaults: false, paths: posix });
    expect(roots).toEqual([{ path: "/x", origin: "explicit" }]);
  });

  it("puts remote roots after all local ones, also if the defaults are disabled", () => {
    const remote = [{ path: "/data/a", remote: { label: "https://a.example", provenanceOf: () => undefined } }];
    const given = { explicit: ["/x"], home: "/h", remote, paths: posix };
    expect(sessionRoots(given).roots.map(({ path, origin }) => `${origin} ${path}`)).toEqual([
      "explicit /x",
      "user /h/.agents/skills",
      "user /h/.claude/skills",
      "remote /data/a",
    ]);
    expect(sessionRoots({ ...given, useDefaults: false }).roots).toEqual([
      { path: "/x", origin: "explicit" },
      { ...remote[0], origin: "remote" },
    ]);
  });

  it("reports and skips relative directories", () => {
    const { roots, problems } = sessionRoots({
      explicit: ["rel"],
      cwd: "./here",
      additionalDirectories: ["", "/more"],
      home: "/h",
      paths: posix,
    });
    expect(roots.map((root) => root.path)).toEqual([
      "/more/.agents/skills",
      "/more/.claude/skills",
      "/h/.agents/skills",
      "/h/.claude/skills",
    ]);
    expect(problems).toEqual([
      'The skills directory "rel" is not an absolute path and is not searched for skills.',
      'The working directory "./here" is not an absolute path and is not searched for skills.',
      'The additional directory "" is not an absolute path and is not searched for skills.',
    ]);
  });

  it("lists each root once, and roots of the home directory as user roots even if it is the project", () => {
    const { roots } = sessionRoots({
      explicit: ["/h/.claude/skills/"],
      cwd: "/h",
      additionalDirectories: ["/h/x/.."],
      home: "/h",
      paths: posix,
    });
    expect(roots).toEqual([
      { path: "/h/.claude/skills", origin: "explicit" },
      { path: "/h/.agents/skills", origin: "user" },
    ]);
  });

  it("normalises Windows paths", () => {
    const { roots, problems } = sessionRoots({
      explicit: ["D:\\skills\\", "\\\\server\\share\\skills"],
      cwd: "C:/Users/me/project",
      home: "C:\\Users\\me",
      paths: path.win32,
    });
    expect(problems).toEqual([]);
    expect(roots.map((root) => root.path)).toEqual([
      "D:\\skills",
      "\\\\server\\share\\skills",
      "C:\\Users\\me\\project\\.agents\\skills",
      "C:\\Users\\me\\project\\.claude\\skills",
      "C:\\Users\\me\\.agents\\skills",
      "C:\\Users\\me\\.claude\\skills",
    ]);
  });

  it("keeps a file system root and a name that ends with a backslash", () => {
    const { roots } = sessionRoots({ explicit: ["/", "/odd\\"], useDefaults: false, paths: posix });
    expect(roots.map((root) => root.path)).toEqual(["/", "/odd\\"]);
  });

  it("returns absolute, unique paths for any absolute directories", () => {
    const directory = fc.string().map((text) => `/${text}`);
    fc.assert(
      fc.property(fc.array(directory), fc.array(directory), directory, (explicit, additionalDirectories, cwd) => {
        const { roots, problems } = sessionRoots({ explicit, additionalDirectories, cwd, paths: posix });
        expect(problems).toEqual([]);
        expect(roots.every((root) => posix.isAbsolute(root.path))).toBe(true);
        expect(new Set(roots.map((root) => root.path)).size).toBe(roots.length);
      }),
    );
  });
});
