import fc from "fast-check";
import { FAILSAFE_SCHEMA, load } from "js-yaml";
import { expect, test } from "vitest";
import { readPlainYaml } from "../../../../src/skills/manifest/yaml/plain-yaml.ts";
import { arbitraryFrontmatter } from "../../arbitrary-frontmatter.ts";

const byParser = (text: string): unknown => load(text, { schema: FAILSAFE_SCHEMA });

test.each([
  "name: pdf\ndescription: Reads PDF files. Use when needed.\n",
  "name: \"pdf\"\ndescription: 'It''s: quoted'\nversion: 1.10\n",
  "allowed-tools: Read, Bash(git:*)\ntags: [a, \"b\", 'c', Bash(git:*)]\n",
  'description: goes\n  on - below\n  "here"\nname: x\n',
  "description: |\n  one\n\n    two \n  three\n\nname: x\n",
  "description: >-\n  one\n  two\n\n  three\nname: x\n",
  "description: >\n\n  one\n\n\n  two\n",
  "metadata:\n  author: me\n  version: '1.0'\n  list: [a, b]\nname: x\n",
  'tags:\n  - a\n  - "b: c"\nother:\n- x\n- y\nlast:\n',
  "# comment\n\nname: x\r\ndescription: y # z\n".replace(" # z", ""),
  "metadata:\n  a:\n    b: goes\n      on\n    c:\n    - d\n    - e\n  f: g\nname: x\n",
  "description:\n  Below its key,\n  in two lines\nname: 'x'\n",
  'a: "say \\"x\\" and \\\\"\n',
  "",
  "empty:\nname: x\n",
  "empty: ''\nother: \"\"\nlist: []\n",
])("reads plain frontmatter like the parser: %j", (text) => {
  const values = readPlainYaml(text);
  expect(values).toBeDefined();
  expect(values).toEqual(text === "" ? {} : byParser(text));
});

test.each([
  "a: b: c\n",
  "a: b # comment\n",
  "a: x\na: y\n",
  "__proto__: x\n",
  "a: &x y\n",
  "a: *x\n",
  "a: !!js/function x\n",
  "a: {b: c}\n",
  'a: "\\n"\n',
  "a: 'open\n",
  "\ta: b\n",
  "a:\n\tb: c\n",
  "- a\n",
  "just text\n",
  "a: |2\n   x\n",
  "a: @x\n",
  "a: [b, [c]]\n",
  "a:\n  - b: c\n",
  "a:\n  b: c\n   d: e\n",
  "a: x\n---\nb: y\n",
])("returns undefined for frontmatter that is not plain: %j", (text) => {
  expect(readPlainYaml(text)).toBeUndefined();
});

test("returns the same values as the parser, or undefined", () => {
  let answered = 0;
  fc.assert(
    fc.property(arbitraryFrontmatter, (text) => {
      const values = readPlainYaml(text);
      if (values === undefined || Object.keys(values).length === 0) return;
      answered++;
      expect(values).toEqual(byParser(text));
    }),
    { numRuns: 10000 },
  );
  expect(answered).toBeGreaterThan(300);
});
