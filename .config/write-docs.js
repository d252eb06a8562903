import { mkdirSync, writeFileSync } from "node:fs";
import { apiReference } from "./api-reference.js";

const text = await apiReference();
mkdirSync(new URL("../docs/", import.meta.url), { recursive: true });
writeFileSync(new URL("../docs/api.md", import.meta.url), text);
