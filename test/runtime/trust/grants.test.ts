import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Capabilities, isNothing } from "../../../src/skills/permissions.ts";
import { type AccessRequest, allows } from "../../../src/runtime/trust/grants.ts";
import { grantOf } from "./approvals/grant-of.ts";

const hex = fc.string({ unit: fc.constantFrom(...Array.from("0123456789abcdef")), minLength: 64, maxLength: 64 });
const digest = hex.map((digits) => `sha256:${digits}`);
const words = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 4 });
const capabilities: fc.Arbitrary<Capabilities> = fc.record(
  {
    network: words,
    secrets: words,
    project: fc.constantFrom("none", "read", "write"),
    isolation: fc.constant("none"),
  },
  { requiredKeys: ["network", "secrets", "project"] },
);
const caller = fc.option(fc.record({ name: fc.string({ minLength: 1 }), digest }), { nil: undefined });
const access: fc.Arbitrary<AccessRequest> = fc.record({
  skill: fc.record({ name: fc.string({ minLength: 1 }), digest }),
  wants: capabilities,
  calledBy: caller,
});

function grantFor({ skill, wants, calledBy }: AccessRequest, expires?: string) {
  const { isolation, ...rest } = wants;
  return grantOf(1, {
    skill: skill.name,
    digest: skill.digest,
    capabilities: { ...rest, ...(isolation !== undefined && { isolation }) },
    ...(calledBy !== undefined && { calledBy: { skill: calledBy.name, digest: calledBy.digest } }),
    ...(expires !== undefined && { expires }),
  });
}

/** Another digit at one place. */
function withOtherDigit(text: string, place: number): string {
  const at = "sha256:".length + place;
  return text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);
}

describe("a grant", () => {
  test("allows exactly what it says, in any order, and less", () => {
    fc.assert(
      fc.property(access, (wanted) => {
        const reversed = { ...wanted.wants, network: wanted.wants.network.toReversed() };
        expect(allows(grantFor(wanted), wanted, 0)).toBe(true);
        expect(allows(grantFor(wanted), { ...wanted, wants: reversed }, 0)).toBe(true);
      }),
    );
  });

  test("allows nothing to other bytes, another name, or another caller", () => {
    fc.assert(
      fc.property(access, fc.nat(63), (wanted, place) => {
        const { skill, calledBy } = wanted;
        const others: AccessRequest[] = [
          { ...wanted, skill: { ...skill, digest: withOtherDigit(skill.digest, place) } },
          { ...wanted, skill: { ...skill, name: `${skill.name}x` } },
          calledBy === undefined
            ? { ...wanted, calledBy: { name: skill.name, digest: skill.digest } }
            : { ...wanted, calledBy: { ...calledBy, digest: withOtherDigit(calledBy.digest, place) } },
          { ...wanted, calledBy: calledBy === undefined ? { name: "", digest: "" } : undefined },
        ];
        for (const other of others) expect(allows(grantFor(wanted), other, 0)).toBe(false);
      }),
    );
  });

  test("allows nothing that has one capability more", () => {
    fc.assert(
      fc.property(access, fc.string({ minLength: 9, maxLength: 12 }), (wanted, more) => {
        const { wants } = wanted;
        const wider: Capabilities[] = [
          ...(["network", "secrets"] as const).map((kind) => ({ ...wants, [kind]: [...wants[kind], more] })),
          ...(wants.project === "none" ? [{ ...wants, project: "read" as const }] : []),
          ...(wants.project === "write" ? [] : [{ ...wants, project: "write" as const }]),
          ...(wants.isolation === undefined ? [{ ...wants, isolation: "none" as const }] : []),
        ];
        for (const each of wider) expect(allows(grantFor(wanted), { ...wanted, wants: each }, 0)).toBe(false);
      }),
    );
  });

  test("allows nothing from the moment at which it expires", () => {
    const expires = "2026-01-01T00:00:00.000Z";
    const end = Date.parse(expires);
    fc.assert(
      fc.property(access, fc.nat(), (wanted, later) => {
        expect(allows(grantFor(wanted, expires), wanted, end - 1)).toBe(true);
        expect(allows(grantFor(wanted, expires), wanted, end + later)).toBe(false);
      }),
    );
  });

  test("of nothing allows nothing", () => {
    fc.assert(
      fc.property(access, (wanted) => {
        const empty = { network: [], secrets: [], project: "none" } as const;
        expect(allows(grantFor({ ...wanted, wants: empty }), wanted, 0)).toBe(isNothing(wanted.wants));
      }),
    );
  });
});
