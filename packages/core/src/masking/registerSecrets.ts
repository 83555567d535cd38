import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';

/** What this process knows to be secret. Registered for the whole process: errors and output are masked there too. */
export interface SecretsOptions {
  /** Registers the values of environment variables that are named like secrets. @defaultValue true */
  readonly fromEnv?: boolean;
  /** Further exact values, of at least 6 characters each. */
  readonly values?: readonly string[];
  /** Exact values that are never masked. */
  readonly allow?: readonly string[];
  /**
   * What is masked before it enters the state: what its own form gives away, or with `'broad'` also what only a name or its
   * randomness does, which changes code and prose that agents write (`password=rules`). Choose it before the first run.
   *
   * @defaultValue 'precise'
   */
  readonly mask?: 'precise' | 'broad';
}

/** @throws RangeError for a value that is too short, a word that masks themselves write, or another `mask`. */
export function registerSecrets(
  { fromEnv = true, values = [], allow = [], mask = 'precise' }: SecretsOptions = {},
  registry: SecretRegistry = secretRegistry,
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  assertMask(mask);
  for (const value of allow) registry.allow(value);
  for (const value of values) registry.register(value);
  if (fromEnv) registry.registerFromEnv(env);
  if (mask === 'broad') registry.maskBroadly();
}

/** For callers without types. */
function assertMask(mask: unknown): void {
  if (mask === 'precise' || mask === 'broad') return;
  throw new RangeError(`Expected secrets.mask to be 'precise' or 'broad', got ${JSON.stringify(mask)}.`);
}
