import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkPolicy } from "../../../../src/runtime/trust/policy/check-policy.ts";

const digest = `sha256:${"0a".repeat(32)}`;
const lines = (...rows: readonly string[]): string => rows.join("\n");

/** What is reported, as `line:column-endColumn code: message. fix`. */
function problemsOf(text: string): readonly string[] {
  return checkPolicy("p.json", text, "/home/ada").problems.map(
    ({ line, column, endColumn, code, message, fix }) => `${line}:${column}-${endColumn} ${code}: ${message}. ${fix}`,
  );
}

const complete = {
  $schema: "./node_modules/acp-skills/schema/policy.json",
  runs: "ask",
  reads: "ask",
  approvals: "session",
  prompts: true,
  answers: false,
  scripts: true,
  worktrees: "separate",
  isolation: "sandbox",
  project: "read",
  skills: { allow: ["acme.*", "pdf"], deny: ["acme.old"] },
  sources: { allow: ["~/.agents/skills", "/opt/skills", "https://github.com/acme"], deny: ["project"] },
  licenses: { allow: ["MIT", "GPL-2.0-only WITH Classpath-exception-2.0"], deny: ["unspecified"] },
  hosts: { allow: ["*.example.com", "https://example.com:8443", "[::1]"], deny: ["internal.example.com"] },
  secrets: { allow: ["ACME_*"] },
  grants: [
    { skill: "acme.deploy", digest, capabilities: { network: ["https://api.example.com"], project: "read" } },
    { skill: "acme.log", digest },
  ],
};

test("a complete policy is valid, and grants without capabilities get none", () => {
  const { policy, problems } = checkPolicy("p.json", JSON.stringify(complete), "/home/ada");
  expect(problems).toEqual([]);
  expect(policy).toMatchObject({
    approvals: "session",
    grants: [
      {
        skill: "acme.deploy",
        capabilities: { network: ["https://api.example.com"], secrets: [], project: "read" },
      },
      { skill: "acme.log", capabilities: { network: [], project: "none" } },
    ],
  });
});

const writeJson = "Write JSON: keys and texts in double quotes, commas only between items, no comments.";

test.each([
  ["", "1:1-1 policy-syntax: expected a value, got the end of the file."],
  ['{\n  "runs": "ask",\n}', '3:1-2 policy-syntax: expected a key in quotes, got "}".'],
  ['{\n  "runs": "ask"\n  "reads": "ask"\n}', '3:3-4 policy-syntax: expected , or }, got "\\"".'],
  ["{ runs: true }", '1:3-4 policy-syntax: expected a key in quotes, got "r".'],
  ['{\n  // no\n  "runs": "ask"\n}', '2:3-4 policy-syntax: expected a key in quotes, got "/".'],
  ['{"a": # no\n 1}', '1:7-8 policy-syntax: expected a value, got "#".'],
  ['{"runs": "a\nb"}', '1:10-11 policy-syntax: expected a value, got "\\"".'],
  ['{"runs": 01}', '1:10-11 policy-syntax: expected a value, got "0".'],
  ["{} {}", '1:4-5 policy-syntax: expected the end of the file, got "{".'],
  ["[".repeat(100), '1:18-19 policy-syntax: expected at most 16 levels, got "[".'],
])("the syntax error of %j has a position and a fix", (text, problem) => {
  expect(problemsOf(text).filter((one) => !one.includes(" policy-implied: "))).toEqual([`${problem} ${writeJson}`]);
});

test.each([
  ["[]", '1:1-3 policy-value-invalid: a policy is an object. Write { "key": value }.'],
  ['{"skill": {}}', '1:2-9 policy-key-unknown: unknown key "skill" in a policy. Did you mean "skills"?'],
  [
    '{"$schema": "𝒳", "approval": "once"}',
    '1:18-28 policy-key-unknown: unknown key "approval" in a policy. Did you mean "approvals"?',
  ],
  [
    '{"skills": {"allowed": []}}',
    '1:13-22 policy-key-unknown: unknown key "allowed" in "skills". Did you mean "allow"?',
  ],
  [
    '{"runs": "ask", "runs": "sandbox"}',
    '1:17-23 policy-key-duplicate: the key "runs" occurs twice. Keep one of them.',
  ],
  ['{"runs": "asks"}', '1:10-16 policy-value-invalid: "runs" is "sandbox" or "ask". Did you mean "ask"?'],
  ['{"prompts": "no"}', '1:13-17 policy-value-invalid: "prompts" is true or false. Write true or false.'],
  ['{"skills": ["a"]}', '1:12-17 policy-value-invalid: "skills" is an object. Write { "key": value }.'],
  ['{"skills": {"deny": "a"}}', "1:21-24 policy-value-invalid: skills.deny is a list. Write [ … ]."],
  [
    '{"skills": {"deny": ["A B"]}}',
    "1:22-27 policy-value-invalid: invalid entry in skills.deny. Write a name such as acme.deploy or acme.*.",
  ],
  [
    '{"hosts": {"allow": ["http://x/y", 1]}}',
    "1:22-34 policy-value-invalid: invalid entry in hosts.allow. Write a host such as api.example.com, *.example.com or https://example.com:8443.",
  ],
  [
    '{"skills": {"deny": ["a*b*c*d*e*f"]}}',
    "1:22-35 policy-value-invalid: invalid entry in skills.deny: an entry has at most 4 wildcards. Write a name such as acme.deploy or acme.*.",
  ],
  [
    '{"grants": [{"skill": "a"}]}',
    '1:13-27 policy-value-invalid: a grant names a skill and its digest, or a source and its commit. Write {"skill": …, "digest": …, "capabilities": …} or {"source": …, "commit": …, "capabilities": …}.',
  ],
  [
    `{"grants": [{"skill": "a.*", "digest": "${digest}"}]}`,
    "1:23-28 policy-value-invalid: a grant to a digest names one skill. Write the name of the skill.",
  ],
  [
    '{"grants": [{"skill": "a", "digest": "sha256:1"}]}',
    '1:38-48 policy-value-invalid: invalid value of "digest". Write a digest such as sha256:… (64 hexadecimal digits), as acp-skills show prints it.',
  ],
  [
    `{"grants": [{"skill": "a", "digest": "${digest}", "capabilities": {"network": ["x.org"]}}]}`,
    "1:142-149 policy-value-invalid: invalid entry in capabilities.network. Write an origin as the skill asks for it, such as https://api.example.com.",
  ],
])("the fault of %s has a position and a fix, and the policy is not used", (text, problem) => {
  expect(problemsOf(text)[0]).toBe(problem);
  expect(checkPolicy("p.json", text, "/home/ada").policy).toBeUndefined();
});

test.each([
  [
    '{"skills": {"allow": ["a", "b"], "deny": ["b"]}}',
    '1:28-31 policy-contradiction: skills.allow has "b", which skills.deny has as "b". Remove one of them.',
  ],
  [
    '{"skills": {"allow": ["acme.x*"], "deny": ["acme.*"]}}',
    '1:23-32 policy-contradiction: skills.allow has "acme.x*", which skills.deny has as "acme.*". Remove one of them.',
  ],
  [
    '{"hosts": {"allow": ["https://a.b.org"], "deny": ["*.b.org"]}}',
    '1:22-39 policy-contradiction: hosts.allow has "https://a.b.org", which hosts.deny has as "*.b.org". Remove one of them.',
  ],
  [
    '{"sources": {"allow": ["~/x/y"], "deny": ["/home/ada/x"]}}',
    '1:24-31 policy-contradiction: sources.allow has "~/x/y", which sources.deny has as "/home/ada/x". Remove one of them.',
  ],
  [
    '{"prompts": false, "approvals": "once"}',
    '1:33-39 policy-contradiction: "approvals" is "once", which only a prompt can give, and "prompts" is false. Set "approvals" to "none", or "prompts" to true.',
  ],
])("the contradiction in %s is named, and the policy is not used", (text, problem) => {
  expect(problemsOf(text).filter((one) => !one.includes(" policy-implied: "))).toEqual([problem]);
  expect(checkPolicy("p.json", text, "/home/ada").policy).toBeUndefined();
});

test.each([
  [{ skills: { deny: ["a.*"] } }, "the policy denies the skill a.b"],
  [{ skills: { allow: ["c"] } }, "the policy denies the skill a.b"],
  [{ hosts: { deny: ["x.org"] } }, "the policy denies the host https://*.x.org"],
  [{ secrets: { allow: [] } }, "the policy denies reading the secret KEY"],
  [{ isolation: "sandbox" }, "the policy denies running without a sandbox"],
  [{ project: "read" }, "the policy denies write access to the project"],
])("with %j, a grant of what is denied is a contradiction", (rest, why) => {
  const capabilities = {
    network: ["https://*.x.org"],
    secrets: ["KEY"],
    project: "write",
    isolation: "none",
  };
  const rules = "hosts" in rest ? { hosts: { deny: ["a.x.org"] } } : rest;
  const text = JSON.stringify({ ...rules, grants: [{ skill: "a.b", digest, capabilities }] });
  const [problem] = checkPolicy("p.json", text, "/home/ada").problems;
  expect(problem?.message).toBe(`the grant has no effect: ${why}`);
});

test("rules and grants about tools of the agent, as older policies have them, are warned of and have no effect", () => {
  const grant = { skill: "acme.deploy", digest, capabilities: { project: "read", tools: ["Read"] } };
  const text = JSON.stringify({ tools: { deny: ["Bash"] }, grants: [grant] });
  const { policy, problems } = checkPolicy("p.json", text, "/home/ada");
  expect(problems.map(({ code, severity }) => [code, severity])).toEqual([
    ["policy-no-effect", "warning"],
    ["policy-no-effect", "warning"],
  ]);
  expect(policy?.grants).toEqual([{ ...grant, capabilities: { network: [], secrets: [], project: "read" } }]);
});

test("an exception to a rule is no contradiction", () => {
  const text = '{"skills": {"allow": ["acme.*"], "deny": ["acme.old"]}, "hosts": {"allow": ["*"], "deny": ["x.org"]}';
  expect(problemsOf(`${text}, "isolation": "none"}`)).toEqual([]);
});

test.each([
  [{ hosts: { deny: ["x.org"] } }, "hosts"],
  [{ hosts: { allow: [] } }, "hosts"],
  [{ secrets: { deny: ["*_PROD"] } }, "secrets"],
  [{ project: "read" }, "project"],
])("%j implies that nothing runs without a sandbox, and says so", (rules, list) => {
  const { policy, problems } = checkPolicy("p.json", JSON.stringify(rules), "/home/ada");
  expect(policy).toBeDefined();
  const message = `"${list}" has rules, which only a sandbox enforces: running without one is denied, too`;
  expect(problems).toMatchObject([{ code: "policy-implied", severity: "warning", message }]);
  for (const isolation of ["none", "sandbox"])
    expect(checkPolicy("p.json", JSON.stringify({ ...rules, isolation }), "/home/ada").problems).toEqual([]);
});

test.each([{ hosts: { allow: ["*"] } }, { secrets: { deny: [] } }, { project: "write" }, { skills: { deny: ["a"] } }])(
  "%j forbids nothing that a sandbox enforces",
  (rules) => expect(checkPolicy("p.json", JSON.stringify(rules), "/home/ada").problems).toEqual([]),
);

test("a grant to a commit is valid", () => {
  const grant = { source: "https://github.com/acme/skills", commit: "0a".repeat(20), capabilities: {} };
  const { policy, problems } = checkPolicy("p.json", JSON.stringify({ grants: [grant] }), "/home/ada");
  expect(problems).toEqual([]);
  expect(policy?.grants).toHaveLength(1);
});

test("lists and wildcards have limits", () => {
  const names = Array.from({ length: 251 }, (_, index) => `a${index}`);
  expect(problemsOf(JSON.stringify({ skills: { deny: names } }))[0]).toContain(
    "skills.deny has 251 entries; the limit is 250",
  );
  const patterns = names.slice(0, 65).map((name) => `${name}.*`);
  expect(problemsOf(JSON.stringify({ skills: { deny: patterns } }))[0]).toContain(
    "more than 64 entries with wildcards",
  );
});

test("no more than 50 problems are reported", () => {
  const unknown = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x${index}`, 0]));
  expect(problemsOf(JSON.stringify(unknown))).toHaveLength(50);
});

test("positions count code points and lines of every kind of line end", () => {
  const text = lines("{", '  "runs": "ask",\r\n  "reads": "ask",\r  "a": "𝒳", "oops": 1', "}");
  expect(problemsOf(text).at(-1)).toMatch(/^4:13-19 policy-key-unknown/);
});

test("any text is either used or has an error, and every position is in the text", () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.stringify(json));
  const key = fc.constantFrom("runs", "skills", "grants", "hosts", "prompts", "deny", "nothing");
  const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })).map((json) => JSON.stringify(json, null, 2));
  fc.assert(
    fc.property(fc.oneof(fc.string(), value, object), (text) => {
      const { policy, problems } = checkPolicy("p.json", text, "/home/ada");
      expect(policy === undefined).toBe(problems.some(({ severity }) => severity === "error"));
      const rows = text.split(/\r\n?|\n/);
      for (const { line, column, endLine = line, endColumn = column } of problems) {
        expect(line).toBeLessThanOrEqual(rows.length);
        expect(column).toBeLessThanOrEqual(Array.from(rows[line - 1] ?? "").length + 1);
        expect(endLine > line || endColumn >= column).toBe(true);
      }
    }),
  );
});

test("what JSON.parse accepts is read as the same value, and nothing else is read", () => {
  const text = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc.string({
      unit: fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "a", "\\", "1", "-", ".", "e", "true", " ", "\n"),
    }),
  );
  fc.assert(
    fc.property(text, (candidate) => {
      let isJson = true;
      try {
        JSON.parse(candidate);
      } catch {
        isJson = false;
      }
      const hasSyntaxError = checkPolicy("p.json", candidate, "/").problems.some(
        ({ code }) => code === "policy-syntax",
      );
      expect(hasSyntaxError).toBe(!isJson);
    }),
    { numRuns: 500 },
  );
});
