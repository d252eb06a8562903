import { copyFileSync } from "node:fs";

const guide = "tools/guide/SKILL.md";

copyFileSync(new URL(`../src/${guide}`, import.meta.url), new URL(`../dist/${guide}`, import.meta.url));
