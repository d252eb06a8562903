import { expect, test } from "vitest";
import { explainBubblewrap } from "../../../../src/runtime/sandbox/processes/process-tiers.ts";

const kernel = "/proc/sys/kernel";
const fine = {
  [`${kernel}/apparmor_restrict_unprivileged_userns`]: "0\n",
  [`${kernel}/unprivileged_userns_clone`]: "1\n",
  "/proc/sys/user/max_user_namespaces": "15000\n",
};
const reading =
  (files: Readonly<Record<string, string>>) =>
  (file: string): string =>
    files[file] ?? "";
const said = "bwrap: setting up uid map: Permission denied";

test.each<[string, Record<string, string>, RegExp, RegExp]>([
  [
    "AppArmor restricts user namespaces",
    { [`${kernel}/apparmor_restrict_unprivileged_userns`]: "1\n" },
    /AppArmor/,
    /apparmor_parser -r/,
  ],
  [
    "only root may create user namespaces",
    { [`${kernel}/unprivileged_userns_clone`]: "0\n" },
    /to root/,
    /unprivileged_userns_clone=1/,
  ],
  [
    "user namespaces are disabled",
    { "/proc/sys/user/max_user_namespaces": "0\n" },
    /namespaces are disabled/,
    /max_user_namespaces=/,
  ],
  ["it runs in a container", { "/proc/1/environ": "container=docker\0" }, /container/, /--security-opt/],
])("states the reason and the fix when %s", (_why, files, reason, fix) => {
  const explained = explainBubblewrap(said, reading({ ...fine, ...files }));
  expect(explained.reason).toMatch(reason);
  expect(explained.reason).toContain(said);
  expect(explained.fix.join("\n")).toMatch(fix);
});

test("returns the message of bubblewrap unchanged if the cause is unknown", () => {
  expect(explainBubblewrap(said, reading(fine))).toEqual({ reason: said, fix: [] });
});
