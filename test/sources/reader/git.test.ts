import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isCommit, parseGitUrl } from "../../../src/sources/reader/git.ts";

test.each([
  ["https://GitHub.com/o/r.git", "https://github.com/o/r.git", 443],
  ["https://example.com:8443/r", "https://example.com:8443/r", 8443],
  ["http://127.0.0.1:80/r.git", "http://127.0.0.1/r.git", 80],
  ["ssh://git@example.com/o/r.git", "ssh://git@example.com/o/r.git", 22],
  ["https://[2606:4700::1]/r.git", "https://[2606:4700::1]/r.git", 443],
  ["https://0x7f.1/r.git", "https://127.0.0.1/r.git", 443],
])("takes %j as %j", (text, url, port) => {
  expect(parseGitUrl(text)).toMatchObject({ url, port });
});

test("whatever is accepted is a URL of these three forms that git cannot take for an option or a helper", () => {
  const part = fc.constantFrom("https://", "ssh://", "http://", "ext::", "-", "--", "a.b", "@", ":", "/", "%0a", "%2d", "\n", "~", "u", "?", "#", " ", "::", "file://", "git@", "é"); // prettier-ignore
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(part, { maxLength: 10 }).map((parts) => parts.join("")),
        fc.webUrl(),
        fc.string(),
      ),
      (text) => {
        let url: string;
        try {
          ({ url } = parseGitUrl(text));
        } catch (error) {
          expect(error).toMatchObject({ code: "SOURCE_INVALID" });
          return;
        }
        expect(url).toMatch(/^(?:https|http|ssh):\/\/(?:[A-Za-z0-9_][\w.-]*@)?[a-z0-9_[][^/\s]*\/[\x21-\x7e]*$/);
        expect(url).not.toMatch(/^[^/]*::|^-|^[a-z]+:\/\/(?:-|[^/]*@-|[^/]*\/-)|[?#\\]/);
        expect(parseGitUrl(url).url).toBe(url);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("only full commit ids are commits", () => {
  expect(["a".repeat(40), "0".repeat(64)].every(isCommit)).toBe(true);
  expect(["a".repeat(39), "A".repeat(40), "main", "a".repeat(41), `${"a".repeat(40)}\n`].some(isCommit)).toBe(false);
});
