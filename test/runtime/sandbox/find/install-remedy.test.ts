import { expect, test } from "vitest";
import { installCommand, installRemedy } from "../../../../src/runtime/sandbox/find.ts";

const packages = ["deno", "pyodide"];
const remedy = (own: string, projects: readonly string[] = []): string =>
  installRemedy(packages, own, (file) => projects.includes(file));

test.skipIf(process.platform === "win32")(
  "the command installs into the directory from which this package resolves its peers",
  () => {
    const file = "node_modules/acp-skills/dist/runtime/sandbox/a.js";
    expect(remedy(`/usr/lib/${file}`)).toBe("npm install --global deno pyodide");
    expect(remedy(`/home/me/app/${file}`, ["/home/me/app/package.json"])).toBe(
      "npm install --prefix /home/me/app deno pyodide",
    );
    const npx = "/home/me/.npm/_npx/5a9d";
    expect(remedy(`${npx}/${file}`, [`${npx}/package.json`])).toBe(`npm install --prefix ${npx} deno pyodide`);
    expect(remedy(`/my app/${file}`, ["/my app/package.json"])).toBe("npm install --prefix '/my app' deno pyodide");
    expect(remedy("/checkout/dist/runtime/sandbox/a.js")).toBe("npm install deno pyodide");
  },
);

test.each([
  ["apt-get", "sudo apt-get install bubblewrap"],
  ["dnf", "sudo dnf install bubblewrap"],
  ["pacman", "sudo pacman -S bubblewrap"],
  ["zypper", "sudo zypper install bubblewrap"],
  ["apk", "sudo apk add bubblewrap"],
  ["none", "Install bubblewrap with this system's package manager."],
])("a system with %s installs a program with: %s", (manager, command) => {
  const find = (name: string): string | undefined => (name === manager ? `/usr/bin/${name}` : undefined);
  expect(installCommand("bubblewrap", find, false)).toBe(command);
  expect(installCommand("bubblewrap", find, true)).toBe(command.replace("sudo ", ""));
});
