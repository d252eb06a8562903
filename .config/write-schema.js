import { writeFileSync } from "node:fs";
import { conformanceIndex } from "./conformance-index.js";
import { jsonSchemas } from "./json-schemas.js";

for (const [file, text] of Object.entries(jsonSchemas())) {
  writeFileSync(new URL(`../schema/${file}`, import.meta.url), text);
}
writeFileSync(new URL("../schema/conformance/index.json", import.meta.url), conformanceIndex());
