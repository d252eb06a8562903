import { expect, test } from "vitest";
import type { SetupEnvironment } from "../../../../../src/cli/commands/setup/editor.ts";
import { editorNamed } from "../../../../../src/cli/commands/setup/editors.ts";

function placesWith(name: string, given: Partial<SetupEnvironment>): readonly string[] {
  return editorNamed(name)!.settingsFiles({
    home: "/home/me",
    cwd: "/project",
    platform: "linux",
    env: {},
    exists: () => false,
    find: () => undefined,
    wrapper: ["/node", "/main.js"],
    ...given,
  });
}

function placesOf(
  name: string,
  platform: NodeJS.Platform,
  env: SetupEnvironment["env"] = {},
  home = "/home/me",
): readonly string[] {
  return placesWith(name, { home, platform, env });
}

test.each([
  ["zed", "linux", {}, "/home/me/.config/zed/settings.json"],
  ["zed", "linux", { XDG_CONFIG_HOME: "/etc/mine" }, "/etc/mine/zed/settings.json"],
  ["zed", "linux", { XDG_CONFIG_HOME: "relative" }, "/home/me/.config/zed/settings.json"],
  ["zed", "darwin", {}, "/home/me/.config/zed/settings.json"],
  ["zed", "win32", {}, "/home/me/AppData/Roaming/Zed/settings.json"],
  ["zed", "win32", { APPDATA: "/roaming" }, "/roaming/Zed/settings.json"],
  ["zed", "win32", { APPDATA: "" }, "/home/me/AppData/Roaming/Zed/settings.json"],
  ["vscode", "linux", {}, "/home/me/.config/Code/User/settings.json"],
  ["vscode", "darwin", {}, "/home/me/Library/Application Support/Code/User/settings.json"],
  ["vscode", "win32", { APPDATA: "/roaming" }, "/roaming/Code/User/settings.json"],
  ["jetbrains", "win32", {}, "/home/me/.jetbrains/acp.json"],
  ["acpx", "darwin", {}, "/home/me/.acpx/config.json"],
] as const)("%s on %s with %j is configured in %s", (name, platform, env, place) => {
  expect(placesOf(name, platform, env)[0]).toBe(place);
});

test("every product of VS Code has its own directory on each platform, and the project comes last", () => {
  for (const platform of ["linux", "darwin", "win32"] as const) {
    const places = placesOf("vscode", platform);
    expect(new Set(places).size).toBe(10);
    for (const product of [
      "Cursor/User",
      "Windsurf/User",
      "Code - OSS/User",
      ".vscode-server/data/Machine",
      "code-server",
    ])
      expect(places.join()).toContain(product);
    expect(places.at(-1)).toBe("/project/.vscode/settings.json");
  }
  expect(placesOf("vscode", "linux")).toContain("/home/me/.local/share/code-server/User/settings.json");
});

test("a product of VS Code that has settings comes first, then one that was used", () => {
  const [used, set] = ["/home/me/.local/share/code-server/User", "/home/me/.config/Windsurf/User"];
  const there = [used, set, `${set}/settings.json`];
  const places = placesWith("vscode", { exists: (one) => there.includes(one) });
  expect(places.slice(0, 2)).toEqual([`${set}/settings.json`, `${used}/settings.json`]);
});
