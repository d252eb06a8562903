import { expect, test } from "vitest";
import { isWithin } from "../../../../src/base/paths/location.ts";
import {
  type BubblewrapPlan,
  bubblewrapArguments,
} from "../../../../src/runtime/sandbox/processes/bubblewrap-sandbox.ts";

const plan: BubblewrapPlan = {
  python: { executable: "/usr/bin/python3.11" },
  shown: ["/usr/lib/python3.11", "/usr/lib/x86_64-linux-gnu"],
  programs: "/base/python",
  node: "/opt/somewhere/node",
  system: [
    { name: "bin", link: "usr/bin" },
    { name: "lib64", link: "usr/lib64" },
  ],
  settings: ["/proc/sys"],
  inside: "/base/inside",
  etc: "/base/etc",
  zeros: "/base/zeros",
  skills: "/base/s1/skills",
  blobs: "/base/s1/blobs",
  project: { directory: "/home/someone/work", writable: true },
  packages: "/cache/packages",
  diskBytes: 1_000_000,
  walls: { readable: [], runnable: ["/usr"], writable: ["/tmp"] },
  flags: ["warm"],
};

/** The mount operations: the option and its target. */
function mounts(given: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  const options = new Map([
    ["--ro-bind", 2],
    ["--bind", 2],
    ["--dev-bind", 2],
    ["--symlink", 2],
    ["--tmpfs", 1],
    ["--proc", 1],
    ["--remount-ro", 1],
  ]);
  given.slice(0, given.indexOf("--")).forEach((option, at) => {
    const places = options.get(option);
    if (places !== undefined) found.push([option, given[at + places] ?? ""]);
  });
  return found;
}

test("unshares every namespace without fallback and disables further user namespaces", () => {
  const given = bubblewrapArguments(plan);
  for (const option of ["user", "ipc", "pid", "net", "uts"]) expect(given).toContain(`--unshare-${option}`);
  for (const option of ["--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]) {
    expect(given).toContain(option);
  }
  expect(given).not.toContain("--unshare-all");
  expect(given).not.toContain("--share-net");
  expect(given.slice(given.indexOf("--cap-drop"), given.indexOf("--cap-drop") + 2)).toEqual(["--cap-drop", "ALL"]);
});

test("remounts the root read-only last and mounts nothing below directories of the host", () => {
  const made = mounts(bubblewrapArguments(plan));
  expect(made.at(-1)).toEqual(["--remount-ro", "/"]);
  const foreign = ["/project", "/packages", "/skills", "/blobs", "/usr/bin", "/usr/lib/python3.11"];
  for (const [option, place] of made) {
    expect(foreign.filter((tree) => place !== tree && isWithin(place, tree))).toEqual([]);
    if (option === "--bind") expect(place).toBe("/project");
  }
});

test("limits the size of every tmpfs", () => {
  const given = bubblewrapArguments(plan);
  given.forEach((option, at) => {
    if (option === "--tmpfs") expect(given.slice(at - 4, at)).toContain("--size");
  });
  expect(mounts(given)).toContainEqual(["--remount-ro", "/dev"]);
});

test("mounts the project read-only unless it is writable, and not at all without a project", () => {
  const readable = { ...plan, project: { directory: "/p", writable: false } };
  expect(mounts(bubblewrapArguments(readable))).toContainEqual(["--ro-bind", "/project"]);
  expect(mounts(bubblewrapArguments({ ...plan, project: undefined })).map(([, place]) => place)).not.toContain(
    "/project",
  );
});

test("mounts only the selected programs and libraries of the system", () => {
  const shown = mounts(bubblewrapArguments(plan)).filter(([, place]) => place.startsWith("/usr"));
  expect(shown).toEqual([
    ["--ro-bind", "/usr/bin"],
    ["--ro-bind", "/usr/lib/python3.11"],
    ["--ro-bind", "/usr/lib/x86_64-linux-gnu"],
  ]);
  expect(bubblewrapArguments(plan).join(" ")).toContain("--ro-bind /base/python /usr/bin");
});

test("passes no environment variables and replaces /dev/zero", () => {
  const given = bubblewrapArguments(plan);
  expect(given).not.toContain("--setenv");
  expect(given.slice(given.indexOf("/dev/zero") - 2, given.indexOf("/dev/zero"))).toEqual(["--ro-bind", "/base/zeros"]);
});
