import fc from "fast-check";
import { expect, test } from "vitest";
import { readManifest } from "../../../src/skills/manifest/read-manifest.ts";
import { rules } from "../../../src/skills/rules.ts";

const file = "/skills/sync/skill.toml";
const head = 'name = "sales.leads.sync"\nversion = "1.0.0"\ndescription = "Syncs leads."\n';
const action = `${head}kind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n`;
const instruction = `${head}kind = "instruction"\n`;
const found = (text: string) =>
  readManifest(text, file).findings.map(({ code, line, column }) => `${code} ${line}:${column}`);

test("reads a complete manifest and freezes it deeply", () => {
  const { manifest, findings } = readManifest(
    `${action}[inputs.sheet]\ntype = "blob"\nrequired = true\n[permissions]\nproject = "read"\n`,
    file,
  );
  expect(findings).toEqual([]);
  expect(manifest).toEqual({
    name: "sales.leads.sync",
    version: "1.0.0",
    description: "Syncs leads.",
    kind: "action",
    runtime: { language: "python", entrypoint: "main.py", export: "main" },
    inputs: { sheet: { type: "blob", required: true } },
    permissions: { project: "read" },
  });
  expect(Object.isFrozen(manifest?.inputs?.sheet)).toBe(true);
});

test("keeps unknown keys and warns about them", () => {
  const { manifest, findings } = readManifest(`homepage = "x"\n${action}[runtime.extra]\na = 1\n`, file);
  expect(manifest).toMatchObject({ homepage: "x", runtime: { extra: { a: 1 } } });
  expect(findings.map(({ code, line }) => `${code} ${line}`)).toEqual([
    "manifest-key-unknown 1",
    "manifest-key-unknown 9",
  ]);
});

test.each([
  ["https://example.org", true],
  ["https://*.example.org", true],
  ["https://example.org:8443", true],
  ["http://example.org", false],
  ["https://", false],
  ["https://*", false],
  ["https://a.*.org", false],
  ["https://example.org/path", false],
  ["https://user@example.org", false],
  ["https://EXAMPLE.org", false],
  ["*", false],
  ["https://example.org:1", true],
  ["https://example.org:65535", true],
  ["https://example.org:0", false],
  ["https://example.org:0443", false],
  ["https://example.org:65536", false],
  ["https://example.org:99999", false],
  ["http://127.0.0.1:0", false],
  ["http://127.0.0.256:8080", false],
  ["https://127.1", false],
  ["https://0x7f.1", false],
  ["https://1.example.org", true],
])("the network entry %s is accepted: %s", (entry, accepted) => {
  const text = `${instruction}[permissions]\nnetwork = ["${entry}"]\n`;
  expect(found(text)).toEqual(accepted ? [] : ["manifest-network-invalid 6:11"]);
});

test.each([
  ["main.py", true],
  ["scripts/main.py", true],
  ["../main.py", false],
  ["a/../../main.py", false],
  ["/main.py", false],
  ["./main.py", false],
  ["a//main.py", false],
  ["~/main.py", false],
  ["C:/main.py", false],
  ["a\\\\main.py", false],
  ["a\\u0000.py", false],
  ["..", false],
])("the entrypoint %s is inside the skill directory: %s", (entrypoint, inside) => {
  expect(found(action.replace("main.py", entrypoint))).toEqual(inside ? [] : ["manifest-entrypoint-outside 7:14"]);
});

test.each([
  ["sales", true],
  ["sales.leads", true],
  ["sales.leads.sync", true],
  ["sale", false],
  ["leads", false],
  ["sales.leads.sync.more", false],
])("the namespace %s matches sales.leads.sync: %s", (namespace, fits) => {
  expect(found(`${instruction}namespace = "${namespace}"\n`)).toEqual(fits ? [] : ["manifest-namespace-mismatch 5:13"]);
});

test.each([
  ["a.b@^1", true],
  ["a.b@1.2.3", true],
  ["a@~1.2", true],
  ["a.b", true],
  ["a-b@^1", false],
  ["a.b@", false],
  ["a.b@latest", false],
  ["A.b@^1", false],
])("the dependency %s is accepted: %s", (entry, accepted) => {
  const text = `${instruction}[dependencies]\nskills = ["${entry}"]\n`;
  expect(found(text)).toEqual(accepted ? [] : ["manifest-dependency-invalid 6:10"]);
});

test("reports invalid TOML with its position", () => {
  expect(found(`${head}kind = action\n`)).toEqual(["manifest-syntax 4:8"]);
  expect(found(`${head}name = "again"\n`)).toEqual(["manifest-syntax 4:1"]);
  expect(found(`\ufeff${instruction}`)).toEqual([]);
});

test.each([
  ['version = "1"', 'version is "1", which is not valid'],
  ["version = 1", "version is 1, not a string"],
  ['name = "Sales"', 'name is "Sales", which is not valid'],
  ['kind = "x"', 'kind is "x", not "action" or "instruction"'],
  ['description = " "', "description is empty"],
  ["tags = {}", "tags is {}, not a list"],
  ["limits.timeout_ms = 0", "limits.timeout_ms is 0; the minimum is 1"],
  ["limits.timeout_ms = 1.5", "limits.timeout_ms is 1.5, not a whole number"],
  [
    'inputs.a.type = "text"',
    'inputs.a.type is "text", not "string" or "integer" or "number" or "boolean" or "object" or "array" or "blob"',
  ],
  ["inputs = 1", "inputs is 1, not a table"],
  ["permissions = []", "permissions is [], not a table"],
  ['permissions.isolation = "auto"', 'permissions.isolation is "auto", not "none"'],
])("rejects %s with a readable message", (line, message) => {
  const key = line.split(/[ .]/, 1)[0] ?? "";
  const rest = instruction.split("\n").filter((other) => !other.startsWith(`${key} =`));
  expect(readManifest([line, ...rest].join("\n"), file).findings).toMatchObject([{ message }]);
});

test("reports the position of the value", () => {
  expect(found(`${instruction}[permissions]\nnetwork = [\n  "https://a.org", # "x"\n  "b.org",\n]\n`)).toEqual([
    "manifest-network-invalid 6:11",
  ]);
  expect(
    found(`${head}kind = "action"\nruntime = { language = "python", export = "entrypoint", entrypoint = "../x.py" }\n`),
  ).toEqual(["manifest-entrypoint-outside 5:11"]);
  expect(found(`${instruction.replace("Syncs leads.", "use ''' here")}foo = 1\n`)).toEqual([
    "manifest-key-unknown 5:1",
  ]);
});

test("removes control characters and reports them", () => {
  const text = instruction.replace("Syncs leads.", "Syncs \\u001b[2J leads \\u202e\\tnow.");
  const { manifest, findings } = readManifest(`${text}tags = ["a\\u0000", "b"]\n`, file);
  expect(manifest).toMatchObject({ description: "Syncs [2J leads \tnow.", tags: ["a", "b"] });
  expect(findings.map(({ code, line, column }) => `${code} ${line}:${column}`)).toEqual([
    "control-characters 3:15",
    "control-characters 5:8",
  ]);
});

test("rejects keys with very many segments instead of overflowing the stack", () => {
  const { manifest, findings } = readManifest(`${instruction}${"a.".repeat(10_000)}b = 1\n`, file);
  expect(manifest).toBeUndefined();
  expect(findings).toMatchObject([{ code: "manifest-syntax", message: "invalid TOML: tables are nested too deeply" }]);
});

test("rejects a document with more than 2,000 values", () => {
  const { manifest, findings } = readManifest(`${instruction}tags = [${"1, ".repeat(2000)}]\n`, file);
  expect(manifest).toBeUndefined();
  expect(findings).toMatchObject([{ code: "manifest-syntax", message: "invalid TOML: more than 2,000 values" }]);
});

test("limits the findings per rule to 20", () => {
  const keys = Array.from({ length: 1000 }, (_, index) => `k${index} = 1\n`).join("");
  const { findings } = readManifest(`${keys}${instruction}`, file);
  expect(findings).toHaveLength(20);
  expect(findings.at(-1)?.message).toBe("unknown key `k19` in skill.toml; and 980 more of this kind");
});

test("accepts a manifest with an overlong description and truncates it", () => {
  const { manifest, findings } = readManifest(instruction.replace("Syncs leads.", "😀".repeat(1025)), file);
  expect(manifest?.description).toBe("😀".repeat(1024));
  expect(findings.map(({ code }) => code)).toEqual(["description-too-long"]);
});

test("returns a manifest or an error for any text", () => {
  const lines = [
    ...instruction.split("\n"),
    ...action.split("\n"),
    ...[
      "[inputs.a]",
      'type = "string"',
      "[permissions]",
      "secrets = [1]",
      "tags = {}",
      "a.b.c = 1",
      "[[inputs]]",
      "__proto__ = 1",
    ],
    ...[
      "default = 1979-05-27T07:32:00Z",
      "n = 99999999999999999999",
      's = """',
      "x = [1,",
      "runtime = 1",
      "limits = { timeout_ms = -1 }",
    ],
  ];
  let read = 0;
  fc.assert(
    fc.property(
      fc.constantFrom("", instruction, instruction, action),
      fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...lines) }, fc.string()), { maxLength: 6 }),
      (start, rest) => {
        const { manifest, findings } = readManifest(start + rest.join("\n"), file);
        expect(manifest === undefined).toBe(findings.some(({ code }) => rules[code].lenient === "error"));
        if (manifest !== undefined) read++;
      },
    ),
    { numRuns: 1000 },
  );
  expect(read).toBeGreaterThan(20);
});

test("rejects a key __proto__, at any depth", () => {
  for (const text of [
    "__proto__ = 1\n",
    '[inputs.__proto__]\ntype = "string"\n',
    "[limits]\na = [{ __proto__ = 2 }]\n",
  ])
    expect(readManifest(`${instruction}${text}`, file).findings).toMatchObject([
      { code: "manifest-syntax", message: "invalid TOML: a key must not be __proto__" },
    ]);
});

test.each(["constructor", "toString"])("treats %s as an ordinary name", (name) => {
  const { manifest, findings } = readManifest(
    `${name} = 1\n${action}[inputs.${name}]\ntype = "string"\n${name} = [{ ${name} = 2 }]\n[outputs.a]\ntype = "${name}"\n`,
    file,
  );
  expect(manifest).toBeUndefined();
  expect(findings.map(({ code, line }) => `${code} ${line}`)).toEqual([
    "manifest-key-unknown 1",
    "manifest-key-unknown 11",
    "manifest-field-invalid 13",
  ]);
  const kept = readManifest(
    `${name} = 1\n${action}[inputs.${name}]\ntype = "string"\n${name} = [{ ${name} = 2 }]\n`,
    file,
  );
  expect(JSON.parse(JSON.stringify(kept.manifest))).toEqual(
    JSON.parse(
      JSON.stringify({
        ...readManifest(action, file).manifest,
        inputs: JSON.parse(`{"${name}":{"type":"string","${name}":[{"${name}":2}]}}`) as unknown,
      }).replace(/^\{/, `{"${name}":1,`),
    ),
  );
  expect(readManifest(`${action}[inputs.${name}]\nrequired = true\n`, file).findings).toMatchObject([
    { code: "manifest-field-missing", message: `inputs.${name}.type is missing` },
  ]);
});
