import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Capabilities, beyond, covers, isNothing, noCapabilities } from "../../../../src/skills/permissions.ts";
import type { JudgedSkill } from "../../../../src/runtime/trust/grants.ts";
import type { PolicyLayer } from "../../../../src/runtime/trust/policy/layers.ts";
import { looseningsOf, mergePolicies } from "../../../../src/runtime/trust/policy/merge-policies.ts";
import { settings } from "../../../../src/runtime/trust/policy/policy-file.ts";
import type { Policy } from "../../../../src/runtime/trust/policy.ts";
import { anyContent, anySubject, anyWants, digest, home, layerOf, subjectOf, wanting } from "./layers.ts";
import { noPolicy } from "../../../../src/runtime/trust/policy/open-policies.ts";

const merged = (...layers: readonly PolicyLayer[]): Policy => mergePolicies(layers, home);
const organisation = (content: object | string): PolicyLayer => layerOf("organisation", content);
const project = (content: object | string): PolicyLayer => layerOf("project", content);

const settingNames = ["runs", "reads", "approvals", "prompts", "answers", "worktrees"] as const;

/** How one policy allows more than another for a skill; empty if it does not. */
function looser(policy: Policy, other: Policy, subject: JudgedSkill, wants: Capabilities): readonly string[] {
  const rank = (name: (typeof settingNames)[number], { [name]: value }: Policy): number =>
    (settings[name].values as readonly unknown[]).indexOf(value);
  const granted = policy.grants(subject)?.capabilities;
  const wasGranted = other.grants(subject)?.capabilities ?? noCapabilities;
  return [
    ...settingNames.filter((name) => rank(name, policy) < rank(name, other)),
    ...(policy.code === undefined && other.code !== undefined ? ["code"] : []),
    ...(policy.denies(subject, wants) === undefined && other.denies(subject, wants) !== undefined ? ["denies"] : []),
    ...(granted !== undefined && !covers(wasGranted, granted) ? ["grants"] : []),
  ];
}

const anyLayer = (origin: PolicyLayer["origin"]): fc.Arbitrary<PolicyLayer> =>
  fc.oneof({ weight: 9, arbitrary: anyContent }, { weight: 1, arbitrary: fc.constant("{") }).map((content) => layerOf(origin, content)); // prettier-ignore
const aboves = fc.tuple(
  fc.option(anyLayer("organisation"), { nil: undefined }),
  fc.option(anyLayer("configuration"), { nil: undefined }),
).map((layers) => layers.filter((layer) => layer !== undefined)); // prettier-ignore

describe("running without a sandbox", () => {
  const bare = wanting({ isolation: "none" });

  test("is denied where hosts, secrets or the project have rules, unless the same policy says otherwise in words", () => {
    for (const ban of [{ hosts: { deny: ["x.org"] } }, { secrets: { allow: ["A"] } }, { project: "read" }]) {
      const { why = "" } = merged(organisation(ban)).denies(subjectOf(), bare) ?? {};
      expect(why).toMatch(
        /denies running without a sandbox: (?:hosts|secrets|project) has rules, which only a sandbox enforces/,
      );
      expect(merged(organisation({ ...ban, isolation: "none" })).denies(subjectOf(), bare)).toBeUndefined();
      // Not of another policy.
      expect(merged(organisation(ban), project({ isolation: "none" })).denies(subjectOf(), bare)).toBeDefined();
      expect(merged(organisation(ban)).denies(subjectOf(), wanting({}))).toBeUndefined();
    }
    expect(merged(organisation({ skills: { deny: ["a"] } })).denies(subjectOf(), bare)).toBeUndefined();
  });
});

describe("a source on the network", () => {
  test("is denied by its URL, or because others are allowed by theirs", () => {
    const denying = merged(organisation({ sources: { deny: ["https://evil.org"] } }));
    expect(denying.deniesSource("https://evil.org/skills")?.why).toContain('sources.deny has "https://evil.org"');
    expect(denying.deniesSource("https://x.org")).toBeUndefined();
    const allowing = merged(organisation({ sources: { allow: ["https://acme.org", "~/.agents/skills"] } }));
    expect(allowing.deniesSource("https://x.org")?.why).toContain("not in sources.allow");
    expect(allowing.deniesSource("https://acme.org/a")).toBeUndefined();
    expect(
      merged(organisation({ sources: { allow: ["~/.agents/skills"] } })).deniesSource("https://x.org"),
    ).toBeUndefined();
    // As for skills: what "allow" does not name is denied.
    expect(merged(organisation({ sources: { allow: [] } })).deniesSource("https://x.org")).toBeDefined();
    expect(noPolicy.deniesSource("https://x.org")).toBeUndefined();
  });
});

describe("merging policies", () => {
  test("without files, nothing is denied and nothing is granted", () => {
    fc.assert(
      fc.property(anySubject, anyWants, (subject, wants) => {
        expect(looser(merged(), noPolicy, subject, wants)).toEqual([]);
        expect(looser(noPolicy, merged(), subject, wants)).toEqual([]);
      }),
    );
  });

  test("a project's policy never allows more than there is without it", () => {
    fc.assert(
      fc.property(aboves, anyLayer("project"), anySubject, anyWants, (above, own, subject, wants) => {
        expect(looser(merged(...above, own), merged(...above), subject, wants)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("the organisation's policy cannot be loosened by a configuration", () => {
    fc.assert(
      fc.property(anyLayer("organisation"), anyContent, anySubject, anyWants, (above, content, subject, wants) => {
        const both = merged(above, layerOf("configuration", content));
        const stated = above.policy ?? {};
        const mayState = new Set<string>(settingNames.filter((name) => stated[name] === undefined));
        const found = looser(both, merged(above), subject, wants).filter((what) => !mayState.has(what));
        const isLimited = above.policy === undefined || (stated.approvals ?? "everywhere") !== "everywhere";
        expect(isLimited ? found : found.filter((what) => what !== "grants")).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("the same project policy twice counts as once, and the order of project policies does not matter", () => {
    fc.assert(
      fc.property(
        aboves,
        anyLayer("project"),
        anyLayer("project"),
        anySubject,
        anyWants,
        (above, a, b, subject, wants) => {
          const once = merged(...above, a);
          const twice = merged(...above, a, a);
          expect(looser(once, twice, subject, wants)).toEqual([]);
          expect(looser(twice, once, subject, wants)).toEqual([]);
          const [ab, ba] = [merged(...above, a, b), merged(...above, b, a)];
          expect(looser(ab, ba, subject, wants)).toEqual([]);
          expect(looser(ba, ab, subject, wants)).toEqual([]);
        },
      ),
    );
  });

  test("wanting more is never allowed where wanting less is denied", () => {
    fc.assert(
      fc.property(aboves, anySubject, anyWants, anyWants, (layers, subject, some, other) => {
        const policy = merged(...layers);
        const both: Capabilities = {
          network: [...some.network, ...other.network],
          secrets: [...some.secrets, ...other.secrets],
          project: isNothing(beyond(wanting({ project: some.project }), wanting({ project: other.project }))) ? some.project : other.project,
          ...((some.isolation ?? other.isolation) && { isolation: "none" }),
        }; // prettier-ignore
        if (policy.denies(subject, some) !== undefined) expect(policy.denies(subject, both)).toBeDefined();
      }),
    );
  });

  test("the order of keys and of entries does not matter", () => {
    fc.assert(
      fc.property(anyContent, anySubject, anyWants, (content, subject, wants) => {
        const reversed = (value: unknown): unknown =>
          Array.isArray(value)
            ? value.map(reversed).reverse()
            : typeof value === "object" && value !== null
              ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, reversed(inner)]).reverse())
              : value; // prettier-ignore
        const [one, other] = [merged(organisation(content)), merged(organisation(reversed(content) as object))];
        expect(looser(one, other, subject, wants)).toEqual([]);
        expect(looser(other, one, subject, wants)).toEqual([]);
      }),
    );
  });
});

describe("what is denied", () => {
  test.each([
    [{ skills: { deny: ["acme.*"] } }, {}, {}, 'denies the skill acme.deploy: skills.deny has "acme.*"'],
    [{ skills: { deny: ["acme-deploy"] } }, {}, {}, 'denies the skill acme.deploy: skills.deny has "acme-deploy"'],
    [
      { skills: { deny: ["evil-pdf"] } },
      { name: "pdf", slug: "evil-pdf" },
      {},
      'denies the skill pdf: skills.deny has "evil-pdf"',
    ],
    [
      { skills: { allow: ["evil-pdf"] } },
      { name: "pdf", slug: "evil-pdf" },
      {},
      "denies the skill pdf: not in skills.allow",
    ],
    [{ skills: { allow: ["acme.*"] } }, { name: "acme-evil" }, {}, "denies the skill acme-evil: not in skills.allow"],
    [
      { sources: { deny: ["project"] } },
      { isOwn: false },
      {},
      'denies the skill acme.deploy, which comes from /home/ada/.agents/skills: sources.deny has "project"',
    ],
    [
      { sources: { allow: ["/opt"] } },
      {},
      {},
      "denies the skill acme.deploy, which comes from /home/ada/.agents/skills: not in sources.allow",
    ],
    [
      { sources: { deny: ["/evil"] } },
      { directory: "/evil/x" },
      {},
      'denies the skill acme.deploy, which comes from /home/ada/.agents/skills: sources.deny has "/evil"',
    ],
    [
      { licenses: { allow: ["MIT"] } },
      { license: undefined },
      {},
      "does not allow skills without a license: see licenses.allow",
    ],
    [
      { hosts: { deny: ["a.x.org"] } },
      {},
      { network: ["https://*.x.org"] },
      'denies the host https://*.x.org: hosts.deny has "a.x.org"',
    ],
    [
      { hosts: { allow: ["x.org"] } },
      {},
      { network: ["https://y.org"] },
      "denies the host https://y.org: not in hosts.allow",
    ],
    [
      { secrets: { deny: ["*_PROD"] } },
      {},
      { secrets: ["KEY_PROD"] },
      'denies reading the secret KEY_PROD: secrets.deny has "*_PROD"',
    ],
    [
      { secrets: { allow: ["TOKEN@api.github.com"] } },
      {},
      { secrets: ["TOKEN"] },
      "denies reading the secret TOKEN: not in secrets.allow",
    ],
    [
      { secrets: { allow: ["TOKEN@api.github.com"] } },
      {},
      { uses: ["TOKEN@evil.example"] },
      "denies sending the secret TOKEN to evil.example: not in secrets.allow",
    ],
    [
      { secrets: { deny: ["TOKEN@*.evil.example"] } },
      {},
      { uses: ["TOKEN@a.evil.example"] },
      'denies sending the secret TOKEN to a.evil.example: secrets.deny has "TOKEN@*.evil.example"',
    ],
    [
      { secrets: { deny: ["TOKEN@evil.example"] } },
      {},
      { secrets: ["TOKEN"] },
      'denies reading the secret TOKEN: secrets.deny has "TOKEN@evil.example"',
    ],
    [
      { secrets: { deny: ["TOKEN"] } },
      {},
      { uses: ["TOKEN@api.github.com"] },
      'denies sending the secret TOKEN to api.github.com: secrets.deny has "TOKEN"',
    ],
    [
      { hosts: { allow: ["example.com"] } },
      {},
      { uses: ["TOKEN@api.github.com"] },
      "denies sending the secret TOKEN to api.github.com: not in hosts.allow",
    ],
    [{ isolation: "sandbox" }, {}, { isolation: "none" }, 'denies running without a sandbox: isolation is "sandbox"'],
    [{ project: "read" }, {}, { project: "write" }, 'denies write access to the project: project is "read"'],
  ] as const)("%j denies with a message that names the rule and the file", (content, facts, wants, why) => {
    const subject = subjectOf(facts);
    const file = "/organisation/acp-skills.policy.json";
    expect(merged(organisation(content)).denies(subject, wanting(wants))).toEqual({
      why: `The policy of your organisation (${file}) ${why}.`,
      hint: "An administrator of this machine can change that file.",
    });
    expect(merged(project(content)).denies(subject, wanting(wants))?.why).toContain(
      "The policy of this project (/project/",
    );
    expect(noPolicy.denies(subject, wanting(wants))).toBeUndefined();
  });

  test("a policy that allows sending a secret to a host does not allow reading it", () => {
    const policy = merged(organisation({ secrets: { allow: ["TOKEN@*.github.com"] } }));
    expect(policy.denies(subjectOf({}), wanting({ uses: ["TOKEN@api.github.com"] }))).toBeUndefined();
    expect(policy.denies(subjectOf({}), wanting({ secrets: ["TOKEN"] }))).toBeDefined();
    const wider = merged(organisation({ secrets: { allow: ["TOKEN"] } }));
    expect(wider.denies(subjectOf({}), wanting({ secrets: ["TOKEN"], uses: ["TOKEN@x.org"] }))).toBeUndefined();
  });

  test("what a rule does not name is not denied", () => {
    const content = {
      skills: { allow: ["acme.*"] },
      hosts: { allow: ["*.x.org"], deny: ["b.x.org"] },
      project: "read",
    };
    const wants = wanting({ network: ["https://a.x.org"], project: "read" });
    expect(merged(organisation(content)).denies(subjectOf(), wants)).toBeUndefined();
  });

  test("scripts: false refuses all code", () => {
    expect(merged(project({ scripts: false })).code?.why).toBe(
      "The policy of this project (/project/acp-skills.policy.json) denies running code: scripts is false.",
    );
    expect(merged(project({ scripts: true })).code).toBeUndefined();
  });

  test("with an invalid file of the organisation, nothing beyond the sandbox is allowed, and the message names the place", () => {
    const policy = merged(organisation('{\n  "skill": {}\n}'));
    expect(policy.denies(subjectOf({ isOwn: false }), noCapabilities)).toBeUndefined();
    expect(policy.denies(subjectOf(), wanting({ secrets: ["KEY"] }))).toEqual({
      why: 'The policy of your organisation is invalid, so that it denies anything beyond the sandbox. /organisation/acp-skills.policy.json:2:3: unknown key "skill" in a policy.',
      hint: 'An administrator of this machine can correct it: Did you mean "skills"?',
    });
    expect(policy).toMatchObject({ approvals: "none", answers: false });
  });

  test("with an invalid file of a project, the skills that came with it are denied altogether", () => {
    const policy = merged(project("{"));
    expect(policy.denies(subjectOf({ isOwn: false }), noCapabilities)).toBeDefined();
    expect(policy.denies(subjectOf(), noCapabilities)).toBeUndefined();
    expect(policy.denies(subjectOf(), wanting({ project: "read" }))).toBeDefined();
  });
});

describe("what is granted", () => {
  const capabilities = { network: ["https://x.org"] };
  const content = { grants: [{ skill: "acme.deploy", digest, capabilities }] };

  test("exactly the version with the digest of a grant of the organisation", () => {
    const policy = merged(organisation(content));
    expect(policy.grants(subjectOf())).toEqual({
      capabilities: wanting(capabilities),
      file: "/organisation/acp-skills.policy.json",
      rule: "grants[0]",
    });
    expect(policy.grants(subjectOf({ digest: digest.replace("0a", "0b") }))).toBeUndefined();
    expect(policy.grants(subjectOf({ name: "acme-deploy" }))).toBeUndefined();
  });

  test("several grants add up", () => {
    const second = {
      skill: "acme.deploy",
      digest,
      capabilities: { secrets: ["KEY"], project: "write", isolation: "none" },
    };
    const policy = merged(organisation({ grants: [...content.grants, second] }));
    expect(policy.grants(subjectOf())?.capabilities).toEqual(
      wanting({ network: ["https://x.org"], secrets: ["KEY"], project: "write", isolation: "none" }),
    );
  });

  test("nothing by a project, nor by a configuration where the organisation limits approvals", () => {
    const limited = organisation({ approvals: "project" });
    expect(merged(project(content)).grants(subjectOf())).toBeUndefined();
    expect(merged(layerOf("configuration", content)).grants(subjectOf())).toBeDefined();
    expect(merged(limited, layerOf("configuration", content)).grants(subjectOf())).toBeUndefined();
  });

  test("skills that were fetched from a source at a commit, and no others", () => {
    const [source, commit] = ["https://github.com/acme/skills", "0a".repeat(20)];
    const policy = merged(organisation({ grants: [{ source, commit, skill: "acme.*", capabilities }] }));
    const { digest } = subjectOf();
    const originOf = (at: { source: string; commit: string; digest?: string }) => ({
      source: at.source,
      commit: { id: at.commit, digest: at.digest ?? digest },
    });
    const fetched = (at: Parameters<typeof originOf>[0]): boolean =>
      policy.grants(subjectOf({ origin: originOf(at) })) !== undefined;
    expect(fetched({ source: `${source}.git`, commit })).toBe(true);
    expect(fetched({ source: `${source}-evil`, commit })).toBe(false);
    expect(fetched({ source: "https://github.com@evil.org/acme/skills", commit })).toBe(false);
    expect(fetched({ source, commit: "0b".repeat(20) })).toBe(false);
    expect(fetched({ source, commit, digest: `sha256:${"9".repeat(64)}` })).toBe(false);
    expect(policy.grants(subjectOf({ origin: { source } }))).toBeUndefined();
    expect(policy.grants(subjectOf())).toBeUndefined();
    expect(policy.grants(subjectOf({ name: "pdf", origin: originOf({ source, commit }) }))).toBeUndefined();
  });
});

describe("attempts to loosen", () => {
  const messages = (layer: PolicyLayer, ...before: readonly PolicyLayer[]): readonly string[] =>
    looseningsOf(layer, before, home).map(({ line, column, message }) => `${line}:${column} ${message}`);

  test("of a project are named with their places, and have no effect", () => {
    const above = organisation({ approvals: "once", skills: { deny: ["acme.*"] }, hosts: { allow: ["*.x.org"] } });
    const own = project({ approvals: "session", reads: "allow", grants: [], skills: { allow: ["acme.log", "pdf"] }, hosts: { allow: ["y.org", "a.x.org"] } }); // prettier-ignore
    expect(messages(own, above)).toEqual([
      "1:49 a project cannot grant anything; it has no effect",
      '1:32 "reads" is "allow", which is less strict than "ask", the default; it has no effect',
      '1:14 "approvals" is "session", which is less strict than "once" in /organisation/acp-skills.policy.json; it has no effect',
      '1:71 skills.allow has "acme.log", which /organisation/acp-skills.policy.json denies; it has no effect',
      '1:108 hosts.allow has "y.org", which /organisation/acp-skills.policy.json denies; it has no effect',
    ]);
  });

  test("are none where a project tightens, or says what holds anyway", () => {
    expect(messages(project({ runs: "sandbox", approvals: "everywhere", skills: { allow: ["pdf"] } }))).toEqual([]);
    expect(messages(project({ approvals: "once" }), organisation({ approvals: "project" }))).toEqual([]);
    expect(messages(layerOf("configuration", { reads: "allow", grants: [] }))).toEqual([]);
  });
});

test("the license files of a skill are read only where a policy has rules about licenses", () => {
  const license = (): string => {
    throw new Error("The license files were read.");
  };
  const policy = merged(organisation({ skills: { deny: ["evil.*"] } }), project({ hosts: { deny: ["a.x.org"] } }));
  expect(policy.denies(subjectOf({ license }), noCapabilities)).toBeUndefined();
  const judging = merged(organisation({ licenses: { deny: ["GPL-3.0"] } }));
  expect(() => judging.denies(subjectOf({ license }), noCapabilities)).toThrow("were read");
});
