import { commandRules } from "./rules/command-rules.ts";
import { formRules } from "./rules/form-rules.ts";
import { listRules, skillFieldRules } from "./rules/list-rules.ts";
import { messageRules, turnRules } from "./rules/message-rules.ts";
import { skillEntryRules } from "./rules/skill-entry-rules.ts";
import type { ConformanceRule } from "./rule.ts";

/** Every rule, in the order of reports. */
export const conformanceRules: readonly ConformanceRule[] = [
  ...listRules,
  ...skillFieldRules,
  ...formRules,
  ...commandRules,
  ...skillEntryRules,
  ...turnRules,
  ...messageRules,
];
