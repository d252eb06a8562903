import { isSecretName } from "./secret-source.ts";
import type { SecretSource } from "./secret-source.ts";

/** Reads from an object, on every call: such as `process.env`. */
export function memorySecrets(values: Readonly<Record<string, string | undefined>>): SecretSource {
  return {
    read(name) {
      const value = isSecretName(name) && Object.hasOwn(values, name) ? values[name] : undefined;
      return Promise.resolve(value === "" ? undefined : value);
    },
  };
}
