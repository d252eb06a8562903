/** Where values come from that a skill declares by name (`permissions.secrets`). They never come from a skill itself. */
export interface SecretSource {
  /**
   * The value of one name, or `undefined` where this source has none: absent, empty, or not a name at all. Never lists, never
   * keeps a value. Throws a SkillsError UNREADABLE where there may be one that cannot be had; its message holds no value.
   */
  read(name: string, context: SecretContext): Promise<string | undefined>;
}

interface SecretContext {
  /** Canonical name of the skill that declared it: for messages to people. */
  readonly skill: string;
}

const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Whether a text is a name of a secret (C-1.4). Nothing else may reach a file or a command. */
export function isSecretName(text: string): boolean {
  return secretName.test(text);
}
