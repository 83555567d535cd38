import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';

/** What this process knows to be secret. Registered for the whole process: errors and output are masked there too. */
export interface SecretsOptions {
  /** Registers the values of environment variables that are named like secrets. @defaultValue true */
  readonly fromEnv?: boolean;
  /** Further exact values, of at least 6 characters each. */
  readonly values?: readonly string[];
  /** Exact values that are never masked. */
  readonly allow?: readonly string[];
}

/** @throws RangeError for a value that is too short, or a word that masks themselves write. */
export function registerSecrets(
  { fromEnv = true, values = [], allow = [] }: SecretsOptions = {},
  registry: SecretRegistry = secretRegistry,
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  for (const value of allow) registry.allow(value);
  for (const value of values) registry.register(value);
  if (fromEnv) registry.registerFromEnv(env);
}
