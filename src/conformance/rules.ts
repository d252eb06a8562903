import { commandRules } from "./rules/command-rules.ts";
import { formRules } from "./rules/form-rules.ts";
import { listRules } from "./rules/list-rules.ts";
import { messageRules } from "./rules/message-rules.ts";
import type { ConformanceRule } from "./rule.ts";
import { skillFieldRules } from "./rules/skill-fields.ts";
import { turnRules } from "./rules/turn-rules.ts";

/** Every rule, in the order of reports. */
export const conformanceRules: readonly ConformanceRule[] = [
  ...listRules,
  ...skillFieldRules,
  ...formRules,
  ...commandRules,
  ...turnRules,
  ...messageRules,
];
