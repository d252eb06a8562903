import { chmodSync } from "node:fs";

for (const directory of ["dist", ".build"]) chmodSync(new URL(`../${directory}/cli/main.js`, import.meta.url), 0o755);
