/** A source of the secrets that skills declare by name (`permissions.secrets`). */
export interface SecretSource {
  /**
   * The value of a name, or `undefined` if it is absent, empty, or the name is invalid. Throws UNREADABLE if it cannot be read; the
   * message contains no value. Sources do not cache values.
   */
  read(name: string, context: SecretContext): Promise<string | undefined>;
}

interface SecretContext {
  /** Canonical name of the skill that declared it: for error messages. */
  readonly skill: string;
}

const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Whether a string is a valid name of a secret. Must be checked before it reaches a command. */
export function isSecretName(text: string): boolean {
  return secretName.test(text);
}

/** Reads from an object, on every call: such as `process.env`. */
export function memorySecrets(values: Readonly<Record<string, string | undefined>>): SecretSource {
  return {
    read(name) {
      const value = isSecretName(name) && Object.hasOwn(values, name) ? values[name] : undefined;
      return Promise.resolve(value === "" ? undefined : value);
    },
  };
}

/** The first source with a value. An error of a source is not skipped: a locked keychain must not change which value is used. */
export function firstOf(sources: readonly SecretSource[]): SecretSource {
  return {
    async read(name, context) {
      for (const source of sources) {
        const value = await source.read(name, context);
        if (value !== undefined) return value;
      }
      return undefined;
    },
  };
}
