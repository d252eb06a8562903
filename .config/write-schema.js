import { writeFileSync } from "node:fs";
import { jsonSchemas } from "./json-schemas.js";

for (const [file, text] of Object.entries(jsonSchemas())) {
  writeFileSync(new URL(`../schema/${file}`, import.meta.url), text);
}
