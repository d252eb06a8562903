import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noCapabilities } from "../../../../src/skills/permissions.ts";
import {
  type Policies,
  type SharedPolicy,
  createPolicies,
  noPolicy,
} from "../../../../src/runtime/trust/policy/open-policies.ts";
import { subjectOf, wanting } from "./layers.ts";
import { organisationPolicy } from "../../../../src/base/paths/directories.ts";

const name = "acp-skills.policy.json";
const onPosix = test.skipIf(process.platform === "win32");

let directory = "";
let told: string[] = [];

beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-policy-")));
  told = [];
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function write(file: string, content: object | string): string {
  const target = path.join(directory, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o644 });
  return target;
}

function open(given?: string): Policies {
  return createPolicies({
    organisation: path.join(directory, "etc", name),
    given,
    home: path.join(directory, "home"),
    log: (level, message) => told.push(`${level} ${message.replaceAll(directory, "")}`),
  });
}

const deniesSkill = (policies: Policies, at: string, skill: string): boolean =>
  policies.policyFor(path.join(directory, at)).denies(subjectOf({ name: skill }), noCapabilities) !== undefined;

test("without files there is no policy", () => {
  const policies = open();
  expect(policies.policyFor(directory)).toBe(noPolicy);
  expect(policies.policyFor(undefined)).toBe(noPolicy);
  expect(policies.layersFor(directory)).toEqual([]);
});

test("what an organisation decided for many machines counts before the files, and changes with the next use", () => {
  let shared: SharedPolicy | undefined;
  const given = write("given.json", { skills: { deny: ["b"] } });
  const policies = createPolicies({
    ...{ given, home: directory, organisation: path.join(directory, "none"), shared: () => shared },
    log: (level, message) => told.push(`${level} ${message.replaceAll(directory, "")}`),
  });
  const denied = (skill: string): boolean => deniesSkill(policies, "", skill);
  expect([denied("a"), denied("b")]).toEqual([false, true]);
  shared = { name: "policy of the cluster", text: '{"skills": {"deny": ["a"]}}' };
  expect([denied("a"), denied("b")]).toEqual([true, true]);
  expect(policies.policyFor(undefined)).toBe(policies.policyFor(undefined));
  expect(policies.layersFor(undefined).map(({ file, origin }) => [file.replace(directory, ""), origin])).toEqual([
    ["policy of the cluster", "organisation"],
    ["/given.json", "configuration"],
  ]);
  shared = { name: "policy of the cluster", fault: "it could not be read yet", fix: "Wait." };
  const wants = wanting({ network: ["https://example.com"] });
  expect(policies.policyFor(undefined).denies(subjectOf({ name: "a" }), wants)?.why).toMatch(/beyond the sandbox/);
  expect(denied("a")).toBe(false);
  shared = undefined;
  expect([denied("a"), denied("b")]).toEqual([false, true]);
  expect([...new Set(told)]).toEqual(["error policy of the cluster:1:1: it could not be read yet. Wait."]);
});

test("the organisation's file, the configured one, and those of the project and its repository count together", () => {
  write(`etc/${name}`, { skills: { deny: ["a"] } });
  const given = write("given.json", { skills: { deny: ["b"] } });
  write(`repository/${name}`, { skills: { deny: ["c"] } });
  write(`repository/package/${name}`, { skills: { deny: ["d"] } });
  for (const part of ["objects", "refs"]) mkdirSync(path.join(directory, "repository/.git", part), { recursive: true });
  writeFileSync(path.join(directory, "repository/.git/HEAD"), "ref: refs/heads/main\n");
  // An empty one is no repository.
  mkdirSync(path.join(directory, "repository/other/.git"), { recursive: true });
  const policies = open(given);
  const denied = (at: string): string =>
    ["a", "b", "c", "d", "e"].filter((skill) => deniesSkill(policies, at, skill)).join("");
  expect(denied("repository/package")).toBe("abcd");
  expect(denied("repository")).toBe("abc");
  expect(denied("repository/other/deep")).toBe("abc");
  expect(denied("elsewhere")).toBe("ab");
  expect(policies.layersFor(path.join(directory, "repository/package")).map(({ origin }) => origin)).toEqual([
    "organisation",
    "configuration",
    "project",
    "project",
  ]);
  expect(told).toEqual([]);
});

test("a file above the project counts only at the root of its repository", () => {
  write(name, { skills: { deny: ["a"] } });
  expect(deniesSkill(open(), "project", "a")).toBe(false);
  expect(deniesSkill(open(), ".", "a")).toBe(true);
});

test("a file is read again when it is written, replaced, or removed", () => {
  const policies = open();
  const file = write(`project/${name}`, { skills: { deny: ["a"] } });
  expect(deniesSkill(policies, "project", "a")).toBe(true);
  const first = policies.policyFor(path.join(directory, "project"));
  expect(policies.policyFor(path.join(directory, "project"))).toBe(first);
  write(`project/${name}`, { skills: { deny: ["b"] } });
  expect(deniesSkill(policies, "project", "a")).toBe(false);
  expect(deniesSkill(policies, "project", "b")).toBe(true);
  rmSync(file);
  expect(policies.policyFor(path.join(directory, "project"))).toBe(noPolicy);
});

test("problems are logged once, and again when the file has others", () => {
  const policies = open();
  const at = path.join(directory, "project");
  write(`project/${name}`, { reads: "allow" });
  policies.policyFor(at);
  policies.policyFor(at);
  expect(told).toEqual([
    `warning /project/${name}:1:10: "reads" is "allow", which is less strict than "ask", the default; it has no effect. Remove it.`,
  ]);
  write(`project/${name}`, '{"skill": 1}');
  policies.policyFor(at);
  expect(told.slice(1)).toEqual([
    `error /project/${name}:1:2: unknown key "skill" in a policy. Did you mean "skills"?`,
  ]);
});

test("a configured file that does not exist denies everything beyond the sandbox", () => {
  const policy = open(path.join(directory, "missing.json")).policyFor(undefined);
  expect(policy.denies(subjectOf(), noCapabilities)).toBeUndefined();
  expect(policy.denies(subjectOf(), wanting({ secrets: ["KEY"] }))?.why).toContain("there is no such file");
});

onPosix.each([
  [
    "is writable for others",
    (file: string) => {
      chmodSync(file, 0o646);
    },
    /others may write to .*etc.acp-skills/,
  ],
  [
    "is writable for its group",
    (file: string) => {
      chmodSync(file, 0o664);
    },
    /others may write to .*etc.acp-skills/,
  ],
  [
    "is in a directory that others can write to",
    (file: string) => {
      chmodSync(path.dirname(file), 0o777);
    },
    /others may write to .*etc\./,
  ],
  [
    "is a directory",
    (file: string) => {
      rmSync(file);
      mkdirSync(file);
    },
    /not a regular file/,
  ],
  [
    "is too large",
    (file: string) => {
      writeFileSync(file, " ".repeat(128 * 1024 + 1));
    },
    /131073 bytes; the limit is 131072/,
  ],
  [
    "is not UTF-8",
    (file: string) => {
      writeFileSync(file, Buffer.from([0x7b, 0xff]));
    },
    /not UTF-8/,
  ],
])("a file of the organisation that %s grants nothing", (_what, spoil, message) => {
  // prettier-ignore
  const file = write(`etc/${name}`, {});
  spoil(file);
  const policy = open().policyFor(undefined);
  const { why = "" } = policy.denies(subjectOf(), wanting({ secrets: ["KEY"] })) ?? {};
  expect(why.replace(":1:1", ".")).toMatch(message);
  expect(told).toHaveLength(1);
});

onPosix("a project's file may be writable for its group, but not for others, and is no link", () => {
  const file = write(`project/${name}`, {});
  const isUsable = (): boolean => open().layersFor(path.dirname(file))[0]?.policy !== undefined;
  chmodSync(file, 0o664);
  expect(isUsable()).toBe(true);
  chmodSync(file, 0o666);
  expect(isUsable()).toBe(false);
  rmSync(file);
  symlinkSync(write("elsewhere.json", '{"token": "secret"}'), file);
  expect(isUsable()).toBe(false);
  expect(told.join()).not.toContain("token");
});

onPosix("a file of the organisation may be a link", () => {
  const target = write("store/policy.json", { skills: { deny: ["a"] } });
  mkdirSync(path.join(directory, "etc"));
  symlinkSync(target, path.join(directory, "etc", name));
  expect(deniesSkill(open(), ".", "a")).toBe(true);
  write("store/policy.json", {});
  expect(deniesSkill(open(), ".", "a")).toBe(false);
});

test("the organisation's place needs the rights of an administrator on every platform", () => {
  expect(organisationPolicy("linux", {})).toBe(`/etc/acp-skills/${name}`);
  expect(organisationPolicy("darwin", {})).toBe(`/Library/Application Support/acp-skills/${name}`);
  expect(organisationPolicy("win32", { ProgramFiles: "D:\\Programs" })).toBe(`D:\\Programs\\acp-skills\\${name}`);
});
