import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isSkillsError } from "../../../../src/base/errors.ts";
import { parseSource } from "../../../../src/sources/source.ts";

test.each([
  ["mcp:https://example.com/mcp", { label: "mcp:https://example.com/mcp", kind: "scheme", url: "https://example.com/mcp" }], // prettier-ignore
  ["MCP: http://127.0.0.1:7331/mcp ", { label: "mcp:http://127.0.0.1:7331/mcp", url: "http://127.0.0.1:7331/mcp" }],
  ["mcp:https://example.com/s/abc/mcp?key=hunter2", { label: "mcp:https://example.com/s/…/mcp?…", url: "https://example.com/s/abc/mcp?key=hunter2" }], // prettier-ignore
  ["mcp:npx -y 'some server'", { label: 'mcp:npx -y "some server"', url: 'mcp:npx -y "some server"' }],
])("%s names a server", (text, expected) => {
  expect(parseSource(text)).toMatchObject(expected);
});

test("a command runs a program, which only a person may cause; a URL does not", () => {
  expect(parseSource("mcp:node server.js").forPersons).toBe("runs a program on this machine");
  expect(parseSource("mcp:https://example.com/mcp").forPersons).toBeUndefined();
});

test("whatever is accepted is named again by its label, unless a secret is cut from that", () => {
  const part = fc.constantFrom("node", " ", "'", '"', "https://", "example.com", "/", "?a=b", "//", "..", "$", "-", ":", "@", "é", "…", "\\", "%", "[", "#"); // prettier-ignore
  const text = fc.oneof(
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
    fc.string(),
    fc.webUrl({ withQueryParameters: true }),
  );
  fc.assert(
    fc.property(text, (rest) => {
      let source;
      try {
        source = parseSource(`mcp:${rest}`);
      } catch (error) {
        expect(isSkillsError(error, "INVALID_OPTIONS")).toBe(true);
        return;
      }
      expect(URL.canParse(source.url)).toBe(true);
      if (!source.label.includes("…")) expect(parseSource(source.label)).toEqual(source);
      if (source.forPersons === undefined) expect(source.url).toMatch(/^https?:\/\/[^@/]*\//);
    }),
    { numRuns: 2_000 },
  );
});
