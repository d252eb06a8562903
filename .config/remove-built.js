import { rmSync } from "node:fs";

// What an earlier build left would be packed.
for (const directory of [".build", "dist"])
  rmSync(new URL(`../${directory}`, import.meta.url), { recursive: true, force: true });
