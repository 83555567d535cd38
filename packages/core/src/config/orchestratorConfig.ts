import { DevsError } from '../errors/DevsError.ts';
import { BUSY_TIMEOUT_MS, HITL_ENTROPY_THRESHOLD, MAX_RECURSION_DEPTH } from './defaults.ts';

export { HITL_ENTROPY_THRESHOLD, MAX_RECURSION_DEPTH };

export interface OrchestratorConfig {
  /** Depth limit per run. Integer in [5, 100]. @defaultValue 25 */
  readonly maxRecursionDepth: number;
  /** Entropy score from which a task is handed to a human. Number in [0, 1]. @defaultValue 0.75 */
  readonly hitlEntropyThreshold: number;
  /** How long a write waits while other processes write the state file, ms; at least 5,000. @defaultValue 30,000 */
  readonly busyTimeoutMs?: number;
  /** Of an encrypted state file, as a text; see `EncryptionKey`. @defaultValue the file is not encrypted */
  readonly encryptionKey?: string;
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
type Warn = (message: string) => void;

/** The numbers that an option may be; `NaN` is never one. */
interface NumberRange {
  readonly has: (value: unknown) => boolean;
  readonly words: string;
}

const DEPTHS: NumberRange = {
  has: (value) => Number.isInteger(value) && isBetween(value, 5, 100),
  words: 'an integer from 5 to 100',
};
const THRESHOLDS: NumberRange = { has: (value) => isBetween(value, 0, 1), words: 'a number from 0 to 1' };

const TIMEOUTS: NumberRange = {
  has: (value) => Number.isSafeInteger(value) && isBetween(value, 5_000, Number.MAX_SAFE_INTEGER),
  words: 'a whole number of at least 5000',
};

const isBetween = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && value >= least && value <= most;

/**
 * Reads the configuration from `DEVS_*` variables, once, at start.
 *
 * A bad depth or time stops the start. A bad entropy threshold prints a warning and uses its default. Blank means
 * unset, except for the key, so that a lost key does not leave a file readable.
 *
 * @throws DevsError `CONFIG_INVALID` if `DEVS_MAX_RECURSION_DEPTH` is not an integer in [5, 100], or
 *   `DEVS_BUSY_TIMEOUT_MS` is below 5,000.
 */
export function loadOrchestratorConfig(
  env: EnvironmentVariables = process.env,
  warn: Warn = warnProcess,
): OrchestratorConfig {
  const encryptionKey = env['DEVS_ENCRYPTION_KEY'];
  return Object.freeze({
    maxRecursionDepth: readStrictly('DEVS_MAX_RECURSION_DEPTH', env, DEPTHS, MAX_RECURSION_DEPTH),
    hitlEntropyThreshold: readEntropy(parseRawNumber(env['DEVS_HITL_ENTROPY_THRESHOLD']), warn),
    busyTimeoutMs: readStrictly('DEVS_BUSY_TIMEOUT_MS', env, TIMEOUTS, BUSY_TIMEOUT_MS),
    ...(encryptionKey !== undefined && { encryptionKey }),
  });
}

/**
 * What a program was given as options, or the environment's.
 *
 * @throws RangeError naming the option that is out of its range; it is the one of its variable.
 * @throws DevsError `CONFIG_INVALID` as {@link loadOrchestratorConfig}, where nothing was given.
 */
export function orchestratorConfigOf(given: OrchestratorConfig | undefined): OrchestratorConfig {
  if (given === undefined) return loadOrchestratorConfig();
  assertOption('maxRecursionDepth', given.maxRecursionDepth, DEPTHS);
  assertOption('hitlEntropyThreshold', given.hitlEntropyThreshold, THRESHOLDS);
  if (given.busyTimeoutMs !== undefined) assertOption('busyTimeoutMs', given.busyTimeoutMs, TIMEOUTS);
  return given;
}

function assertOption(name: keyof OrchestratorConfig, value: unknown, { has, words }: NumberRange): void {
  if (has(value)) return;
  throw new RangeError(`Expected ${name} to be ${words}, got ${String(value)}.`);
}

/** A variable's raw text with its number (NaN when it is none); `null` when unset. */
type RawNumber = { readonly raw: string; readonly value: number } | null;

/** `FOO=` in a shell file means "unset"; without this, `Number("")` would read as 0. */
function parseRawNumber(raw: string | undefined): RawNumber {
  return raw === undefined || raw.trim() === '' ? null : { raw, value: Number(raw) };
}

function readStrictly(
  name: string,
  env: EnvironmentVariables,
  { has, words }: NumberRange,
  otherwise: number,
): number {
  const given = parseRawNumber(env[name]);
  if (given === null) return otherwise;
  if (has(given.value)) return given.value;
  throw new DevsError(`${name} is ${JSON.stringify(given.raw)}, expected ${words}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Set ${name} to ${words}, or unset it to use ${otherwise}.`,
  });
}

function readEntropy(given: RawNumber, warn: Warn): number {
  if (given === null) return HITL_ENTROPY_THRESHOLD;
  if (THRESHOLDS.has(given.value)) return given.value;
  warn(
    `DEVS_HITL_ENTROPY_THRESHOLD is ${JSON.stringify(given.raw)}, expected ${THRESHOLDS.words}; using ${HITL_ENTROPY_THRESHOLD}.`,
  );
  return HITL_ENTROPY_THRESHOLD;
}

function warnProcess(message: string): void {
  process.emitWarning(message, 'DevsConfigWarning');
}
