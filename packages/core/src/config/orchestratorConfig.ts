import { z } from 'zod';
import { DevsError } from '../errors/DevsError.ts';
import { HITL_ENTROPY_THRESHOLD, MAX_RECURSION_DEPTH } from './defaults.ts';

export { HITL_ENTROPY_THRESHOLD, MAX_RECURSION_DEPTH };

export interface OrchestratorConfig {
  /** Depth limit per run. Integer in [5, 100]. @defaultValue 25 */
  readonly maxRecursionDepth: number;
  /** Entropy score from which a task is handed to a human. Number in [0, 1]. @defaultValue 0.75 */
  readonly hitlEntropyThreshold: number;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Warn = (message: string) => void;

const DepthSchema = z.number().int().min(5).max(100);
const EntropySchema = z.number().min(0).max(1);

/**
 * Reads the configuration from `DEVS_*` variables, once, at start.
 *
 * A bad depth stops the start, because it guards memory. A bad entropy threshold is reported and replaced by
 * its default, because it only shifts when a human is asked. Blank means unset.
 *
 * @throws DevsError `CONFIG_INVALID` when `DEVS_MAX_RECURSION_DEPTH` is not an integer in [5, 100].
 */
export function loadOrchestratorConfig(
  env: Environment = process.env,
  warn: Warn = warnProcess,
): OrchestratorConfig {
  return Object.freeze({
    maxRecursionDepth: readDepth(numberOf(env['DEVS_MAX_RECURSION_DEPTH'])),
    hitlEntropyThreshold: readEntropy(numberOf(env['DEVS_HITL_ENTROPY_THRESHOLD']), warn),
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
  assertOption('maxRecursionDepth', given.maxRecursionDepth, DepthSchema, 'an integer from 5 to 100');
  assertOption('hitlEntropyThreshold', given.hitlEntropyThreshold, EntropySchema, 'a number from 0 to 1');
  return given;
}

function assertOption(
  name: keyof OrchestratorConfig,
  value: unknown,
  schema: z.ZodType,
  wanted: string,
): void {
  if (schema.safeParse(value).success) return;
  throw new RangeError(`Expected ${name} to be ${wanted}, got ${String(value)}.`);
}

/** A variable's raw text with its number (NaN when it is none); `null` when unset. */
type RawNumber = { readonly raw: string; readonly value: number } | null;

/** `FOO=` in a shell file means "unset"; without this, `Number("")` would read as 0. */
function numberOf(raw: string | undefined): RawNumber {
  return raw === undefined || raw.trim() === '' ? null : { raw, value: Number(raw) };
}

function readDepth(given: RawNumber): number {
  if (given === null) return MAX_RECURSION_DEPTH;
  const parsed = DepthSchema.safeParse(given.value);
  if (parsed.success) return parsed.data;
  throw new DevsError(
    `DEVS_MAX_RECURSION_DEPTH is ${JSON.stringify(given.raw)}, expected an integer from 5 to 100.`,
    {
      code: 'CONFIG_INVALID',
      remedy: `Set DEVS_MAX_RECURSION_DEPTH to an integer from 5 to 100, or unset it to use ${MAX_RECURSION_DEPTH}.`,
      cause: parsed.error,
    },
  );
}

function readEntropy(given: RawNumber, warn: Warn): number {
  if (given === null) return HITL_ENTROPY_THRESHOLD;
  const parsed = EntropySchema.safeParse(given.value);
  if (parsed.success) return parsed.data;
  warn(
    `DEVS_HITL_ENTROPY_THRESHOLD is ${JSON.stringify(given.raw)}, expected a number from 0 to 1; using ${HITL_ENTROPY_THRESHOLD}.`,
  );
  return HITL_ENTROPY_THRESHOLD;
}

function warnProcess(message: string): void {
  process.emitWarning(message, 'DevsConfigWarning');
}
