import { expect, test } from "vitest";
import { type NamespaceSettings, explainBubblewrap } from "../../../../src/runtime/sandbox/processes/process-tiers.ts";

const fine: NamespaceSettings = {
  restrictedByAppArmor: false,
  forbiddenToUsers: false,
  disabled: false,
  inContainer: false,
};
const said = "bwrap: setting up uid map: Permission denied";

test.each<[string, Partial<NamespaceSettings>, RegExp, RegExp]>([
  ["AppArmor restricts user namespaces", { restrictedByAppArmor: true }, /AppArmor/, /apparmor_parser -r/],
  ["only root may create user namespaces", { forbiddenToUsers: true }, /to root/, /unprivileged_userns_clone=1/],
  ["user namespaces are disabled", { disabled: true }, /namespaces are disabled/, /max_user_namespaces=/],
  ["it runs in a container", { inContainer: true }, /container/, /--security-opt/],
])("states the reason and the fix when %s", (_why, settings, reason, fix) => {
  const explained = explainBubblewrap(said, { ...fine, ...settings });
  expect(explained.reason).toMatch(reason);
  expect(explained.reason).toContain(said);
  expect(explained.fix.join("\n")).toMatch(fix);
});

test("returns the message of bubblewrap unchanged if the cause is unknown", () => {
  expect(explainBubblewrap(said, fine)).toEqual({ reason: said, fix: [] });
});
