import { accessSync, constants } from "node:fs";
import path from "node:path";

const known = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Chromium on PATH or where systems install it. */
export function findChromium(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
  const onPath = (process.env.PATH ?? "")
    .split(path.delimiter)
    .flatMap((folder) => names.map((name) => path.join(folder, name)));
  return [...onPath, ...known].find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
