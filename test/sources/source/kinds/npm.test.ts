import * as fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { isSkillsError } from "../../../../src/base/errors.ts";
import { npmKind } from "../../../../src/sources/source/kinds/npm.ts";
import { parseSource } from "../../../../src/sources/source.ts";
import { usePersonsNpmrc } from "./npm/fake-registry.ts";

beforeEach(() => {
  usePersonsNpmrc("@acme:registry=https://acme.example/npm/\n");
});

test.each([
  ["npm:rows", { label: "npm:rows", kind: "scheme", url: "https://registry.npmjs.org/rows" }],
  ["NPM: rows@^1.2 ", { label: "npm:rows@^1.2" }],
  ["npm:rows@next", { label: "npm:rows@next", url: "https://registry.npmjs.org/rows" }],
  ["npm:rows@>=1 <2 || 3.x", { label: "npm:rows@>=1 <2 || 3.x" }],
  ["npm:@acme/skills@~1", { label: "npm:@acme/skills@~1", url: "https://acme.example/npm/@acme/skills" }],
  ["npm:node_modules", { label: "npm:node_modules", url: "npm:node_modules" }],
])("%s names a package of the person's registry", (text, expected) => {
  expect(parseSource(text)).toMatchObject(expected);
});

test.each([
  "npm:",
  "npm:@acme",
  "npm:../x",
  "npm:a/b",
  "npm:x@git+ssh://h",
  "npm:x@file:.",
  "npm:.x",
  "npm:x@1;rm",
  "npm:x y",
  `npm:${"x".repeat(215)}`,
  "npm:node_modules@1",
])(
  // prettier-ignore
  "%s names none",
  (text) => {
    expect(() => parseSource(text)).toThrow(/^not a source: what follows npm: is neither the name of a package/);
  },
);

test("a locked version is exactly that version and its bytes", () => {
  const integrity = `sha512-${"A".repeat(86)}==`;
  const source = parseSource("npm:@acme/skills@^1");
  expect(npmKind.at(source, `@acme/skills@1.2.3 ${integrity}`)).toEqual({
    label: "npm:@acme/skills@1.2.3",
    kind: "scheme",
    url: "https://acme.example/npm/@acme/skills",
    ref: integrity,
  });
  expect(npmKind.at(parseSource("npm:node_modules"), "rows@2.0.0").label).toBe("npm:rows@2.0.0");
  expect(npmKind.at(source, "what is this")).toBe(source);
});

test("whatever is accepted names one package of its registry, and itself again", () => {
  const part = fc.constantFrom("@", "/", "a", "B", "..", ".", "-", "_", "~", "%2f", "^1", "1.2.3", " ", "<", "|", "\\", ":", "?", "#", "node_modules", "latest"); // prettier-ignore
  const text = fc.oneof(
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
    fc.string(),
  );
  fc.assert(
    fc.property(text, (rest) => {
      let source;
      try {
        source = parseSource(`npm:${rest}`);
      } catch (error) {
        expect(isSkillsError(error, "INVALID_OPTIONS")).toBe(true);
        return;
      }
      expect(parseSource(source.label)).toEqual(source);
      if (source.url === source.label) return;
      expect(source.url).toMatch(/^https:\/\/(?:registry\.npmjs\.org|acme\.example\/npm)\/(?:@[A-Za-z0-9~-][\w.~-]*\/)?[A-Za-z0-9~-][\w.~-]*$/); // prettier-ignore
      expect(new URL(source.url).href).toBe(source.url);
    }),
    { numRuns: 2_000 },
  );
});
