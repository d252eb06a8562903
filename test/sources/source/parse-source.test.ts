import fc from "fast-check";
import { expect, test } from "vitest";
import { isSkillsError } from "../../../src/base/errors.ts";
import { parseSource, toLabel } from "../../../src/sources/source.ts";
import { sourceKey } from "../../../src/sources/store/store-paths.ts";

const github = "https://github.com/acme/skills.git";

test.each([
  ["example.com", { kind: "auto", url: "https://example.com/", label: "https://example.com/" }],
  [" https://example.com/team/ ", { kind: "auto", url: "https://example.com/team/" }],
  ["example.com:8443/x?type=api", { url: "https://example.com:8443/x?type=api", label: "https://example.com:8443/x" }],
  ["http://127.0.0.1:7331", { kind: "auto", url: "http://127.0.0.1:7331/" }],
  ["127.0.0.1:7331", { url: "http://127.0.0.1:7331/" }],
  ["localhost:7331/s", { url: "http://localhost:7331/s" }],
  ["localhost/team", { kind: "auto", url: "http://localhost/team" }],
  ["[::1]:7331", { url: "http://[::1]:7331/" }],
  ["https://example.com/skills/translate/descriptor.json", { kind: "descriptor" }],
  ["https://example.com/.claude-plugin/marketplace.json", { kind: "marketplace" }],
  ["registry:example.com/catalog", { kind: "registry", url: "https://example.com/catalog" }],
  ["registry:http://127.0.0.1:1", { kind: "registry", url: "http://127.0.0.1:1/" }],
  ["acme/skills", { kind: "git", url: github, label: github }],
  ["acme/skills@v1.2", { kind: "git", url: github, ref: "v1.2", label: `${github}#v1.2` }],
  ["acme/skills#feature/x", { kind: "git", url: github, ref: "feature/x" }],
  ["acme/skills.git", { kind: "git", url: github }],
  ["https://github.com/acme/skills", { kind: "git", url: github }],
  ["https://www.github.com/acme/skills.git/", { kind: "git", url: github }],
  ["github.com/acme/skills/tree/main", { kind: "git", url: github, ref: "main" }],
  ["https://github.com/acme/skills/tree/main/a/b%20c", { url: github, ref: "main", path: "a/b c" }],
  ["https://github.com/acme/skills/blob/main/a/SKILL.md", { url: github, ref: "main", path: "a" }],
  ["https://github.com/acme/skills#v1", { kind: "git", url: github, ref: "v1" }],
  ["https://github.com/acme/skills/releases/download/v1/x.tar.gz", { kind: "auto" }],
  ["https://gitlab.com/g/sub/repo/-/tree/main/x", { url: "https://gitlab.com/g/sub/repo.git", ref: "main", path: "x" }],
  ["https://git.example.com/g/repo/-/tree/v2", { kind: "git", url: "https://git.example.com/g/repo.git", ref: "v2" }],
  ["https://example.com/x.git#v1", { kind: "git", url: "https://example.com/x.git", ref: "v1" }],
  ["https://dev.example.com/p/_git/r", { kind: "git", url: "https://dev.example.com/p/_git/r" }],
  ["git:https://example.com/x", { kind: "git", url: "https://example.com/x" }],
  ["git:http://127.0.0.1:1/plugins.git", { kind: "git", url: "http://127.0.0.1:1/plugins.git" }],
  ["git:https://example.com/x#0123456789012345678901234567890123456789", { ref: "0123456789012345678901234567890123456789" }], // prettier-ignore
  ["git@example.com:acme/skills.git", { kind: "git", url: "ssh://git@example.com/acme/skills.git", label: "ssh://example.com/acme/skills.git" }], // prettier-ignore
  ["ssh://git@example.com:2222/acme/skills#v1", { kind: "git", url: "ssh://git@example.com:2222/acme/skills", ref: "v1" }], // prettier-ignore
  ["https://example.com/s/abcDEF123/", { kind: "auto", url: "https://example.com/s/abcDEF123/", label: "https://example.com/s/…/" }], // prettier-ignore
  ["https://example.com/s/abcDEF123/plugins.git", { kind: "git", label: "https://example.com/s/…/plugins.git" }],
])("%s names a source", (text, expected) => {
  expect(parseSource(text)).toMatchObject(expected);
});

test.each([
  ["", "it has 0 characters"],
  ["a".repeat(3_000), "it has 3000 characters"],
  ["exa mple.com", "blanks"],
  ["example.com/\u202egpj", "invisible"],
  ["rows", "it has neither a dot nor a slash"],
  ["./skills", "on the disk of this machine; read its skills with --skills DIR, or copy them to .agents/skills"],
  ["/home/me/skills", "on the disk of this machine"],
  ["C:\\skills", "on the disk of this machine"],
  ["https://example.com/s/…/", "it has … where its secret part was; write the whole URL"],
  ["https://example.com/s/%E2%80%a6/", "it has … where its secret part was"],
  ["https://me:hunter2@example.com", "user information"],
  ["me@example.com", "user information"],
  ["https://token@github.com/acme/skills", "user information"],
  ["ssh://git:hunter2@example.com/x", "user information"],
  ["ftp://example.com", "ftp URLs are not read"],
  ["file:///etc/passwd", "on the disk of this machine"],
  ["git:file:///srv/repo.git", "on the disk of this machine"],
  ["git://example.com/x.git", "neither encrypts nor authenticates"],
  ["git:https://example.com", "the path of the repository is missing"],
  ["https://github.com/acme", "names its owner and the repository"],
  ["https://example.com/#main", "only git sources have a #REF"],
  ["acme/skills@--upload-pack=x", "not the name of a branch"],
  ["acme/skills@a..b", "not the name of a branch"],
  ["acme/skills@", "not the name of a branch"],
  ["https://github.com/acme/skills/tree/main/x%2f..%2fy", "not the path of a directory"],
  ["https://github.com/acme/skills/tree/main#v1", "a ref twice"],
  ["registry:ssh://git@example.com/x", "a registry source is an http or https URL"],
])("%s is refused", (text, why) => {
  const refusal = errorOf(() => parseSource(text));
  expect(refusal).toMatchObject({ code: "INVALID_OPTIONS", message: expect.stringContaining(why) as string });
  expect(refusal.message).toMatch(/^not a source: .*, for example \S+$/);
  expect(refusal.message).not.toContain("hunter2");
});

function errorOf(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    if (isSkillsError(error)) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

const pieces = fc.array(
  fc.constantFrom("https://", "http:", "git:", "registry:", "ssh://", "github.com", "acme", "/", "#", "@", ":", "?", "..", "s", "%2e", "tree", ".git", "[::1]", "a.b", "-", "é", "%", "_git"), // prettier-ignore
  { maxLength: 12 },
);

test("any text is a source that can be stored, or is refused", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        pieces.map((parts) => parts.join("")),
        fc.string(),
        fc.webUrl(),
      ),
      (text) => {
        let source;
        try {
          source = parseSource(text);
        } catch (error) {
          return isSkillsError(error) && error.code === "INVALID_OPTIONS";
        }
        const url = new URL(source.url);
        expect(source.kind === "git" ? /^(https?|ssh):$/ : /^https?:$/).toSatisfy((form: RegExp) => form.test(url.protocol)); // prettier-ignore
        expect([url.password, url.hash]).toEqual(["", ""]);
        expect(new URL(source.label.replace(/[ #].*$/, ""))).toMatchObject({ username: "", search: "", hash: "" });
        expect(source.path?.split("/") ?? []).not.toContain("..");
        expect(sourceKey(source)).toMatch(/^[a-z0-9][a-z0-9.-]{0,59}-[0-9a-f]{24}$/);
        return true;
      },
    ),
    { numRuns: 500 },
  );
});

test("a label never contains the token of a share path", () => {
  const token = fc.stringMatching(/^[A-Za-z0-9_-]{8,43}$/);
  fc.assert(
    fc.property(token, fc.constantFrom("", "/", "/.well-known/x", "/plugins.git", "?a=b"), (secret, rest) => {
      for (const prefix of ["s", "%73", "skills/s"]) {
        const source = parseSource(`https://example.org/${prefix}/${secret}${rest}`);
        expect(source.url).toContain(secret);
        expect(source.label.replace("skills", "")).not.toContain(secret);
        expect(sourceKey(source)).not.toContain(secret.toLowerCase());
      }
    }),
  );
});

test("a key differs for sources that differ, and not for a slash at the end", () => {
  const keys = ["example.com", "example.com/a", "registry:example.com", "git:https://example.com/a", "example.org"];
  expect(new Set(keys.map((text) => sourceKey(parseSource(text)))).size).toBe(keys.length);
  expect(sourceKey(parseSource("https://example.com/a/"))).toBe(sourceKey(parseSource("https://EXAMPLE.com/a")));
  expect(sourceKey(parseSource("a/b@v1"))).not.toBe(sourceKey(parseSource("a/b@v2")));
  expect(sourceKey(parseSource("[::1]:1"))).toMatch(/^1-/);
});

test("a label of a URL has no query, fragment or user", () => {
  expect(toLabel("https://me:pw@example.com/a?token=1#x")).toBe("https://example.com/a");
});
