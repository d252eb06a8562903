import { expect, test } from "vitest";
import { explainBubblewrap } from "../../../src/sandbox/processes/explain-bubblewrap.ts";
import type { NamespaceSettings } from "../../../src/sandbox/processes/explain-bubblewrap.ts";

const fine: NamespaceSettings = {
  restrictedByAppArmor: false,
  unprivilegedClone: true,
  mostNamespaces: 15_000,
  inContainer: false,
};
const said = "bwrap: setting up uid map: Permission denied";

test.each<[string, Partial<NamespaceSettings>, RegExp, RegExp]>([
  ["AppArmor forbids it", { restrictedByAppArmor: true }, /AppArmor/, /apparmor_parser -r/],
  ["only root may", { unprivilegedClone: false }, /to root/, /unprivileged_userns_clone=1/],
  ["nobody may", { mostNamespaces: 0 }, /namespaces are disabled/, /max_user_namespaces=/],
  ["a container is in the way", { inContainer: true }, /container/, /--security-opt/],
])("When %s, it says so and how to change it", (_why, settings, reason, fix) => {
  const explained = explainBubblewrap(said, { ...fine, ...settings });
  expect(explained.reason).toMatch(reason);
  expect(explained.reason).toContain(said);
  expect(explained.fix.join("\n")).toMatch(fix);
});

test("What it cannot explain it passes on", () => {
  expect(explainBubblewrap(said, fine)).toEqual({ reason: said, fix: [] });
  const unknown = { restrictedByAppArmor: undefined, unprivilegedClone: undefined, mostNamespaces: undefined };
  expect(explainBubblewrap(said, { ...unknown, inContainer: false })).toEqual({ reason: said, fix: [] });
});
