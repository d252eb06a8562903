import type { SecretSource } from "./secret-source.ts";

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
