import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';

/** What this process knows to be secret, for the whole process. Nothing of it changes what a graph keeps in its state. */
export interface SecretsOptions {
  /** Registers the values of environment variables that are named like secrets. @defaultValue true */
  readonly fromEnv?: boolean;
  /** Further exact values, of at least 6 characters each: masked wherever they are shown, at gates too, and by `scrub`. */
  readonly values?: readonly string[];
  /** Exact values that are never masked. */
  readonly allow?: readonly string[];
  /**
   * What `scrub`, and with it the pipeline, takes out of texts of models, checks and people: what its own form gives away, or with
   * `'broad'` also what only a name or its randomness does, which changes code and prose that agents write (`password=rules`).
   * Choose it before the first run.
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
