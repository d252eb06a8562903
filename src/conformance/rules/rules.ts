import { commandRules } from "./command-rules.ts";
import { formRules } from "./form-rules.ts";
import { listRules } from "./list-rules.ts";
import { messageRules } from "./message-rules.ts";
import type { ConformanceRule } from "./rule.ts";
import { skillFieldRules } from "./skill-fields.ts";
import { turnRules } from "./turn-rules.ts";

/** Every rule, in the order of reports. */
export const conformanceRules: readonly ConformanceRule[] = [
  ...listRules,
  ...skillFieldRules,
  ...formRules,
  ...commandRules,
  ...turnRules,
  ...messageRules,
];
