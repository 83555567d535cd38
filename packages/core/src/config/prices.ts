import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { DevsError } from '../errors/DevsError.ts';

const dollars = z.number().nonnegative();

const PriceSchema = z.strictObject({
  input: dollars,
  output: dollars,
  cached: z.exactOptional(dollars),
});

const PriceTableSchema = z.record(z.string().min(1), PriceSchema);

/** What a model's tokens cost, in US dollars per million. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input tokens read from the provider's cache. @defaultValue as `input` */
  readonly cached?: number;
}

/** Prices by model name, without provider and date: `gpt-5-mini`. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** List prices of some common models as of late 2025. Prices change: give your own table where it matters. */
export const DEFAULT_PRICES: PriceTable = {
  'claude-haiku-4-5': { input: 1, output: 5, cached: 0.1 },
  'claude-opus-4-1': { input: 15, output: 75, cached: 1.5 },
  'claude-sonnet-4': { input: 3, output: 15, cached: 0.3 },
  'claude-sonnet-4-5': { input: 3, output: 15, cached: 0.3 },
  'gpt-4o': { input: 2.5, output: 10, cached: 1.25 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cached: 0.075 },
  'gpt-5': { input: 1.25, output: 10, cached: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cached: 0.025 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cached: 0.005 },
};

/**
 * Reads a price table, a JSON file: `{ "my-model": { "input": 0.5, "output": 2, "cached": 0.05 } }`, in US dollars per
 * million tokens. Its models are added to {@link DEFAULT_PRICES} and win over them.
 *
 * @throws DevsError `CONFIG_INVALID` if it cannot be read or is no price table.
 */
export function loadPrices(file: string): PriceTable {
  const parsed = PriceTableSchema.safeParse(readJson(file));
  if (!parsed.success) throw notPrices(file, z.prettifyError(parsed.error), parsed.error);
  return { ...DEFAULT_PRICES, ...parsed.data };
}

/** The price of a model by its name, which may carry a provider and a date: `openai:gpt-5-2025-08-07`. */
export function priceOf(model: string, prices: PriceTable): ModelPrice | null {
  const name = model.slice(Math.max(model.lastIndexOf(':'), model.lastIndexOf('/')) + 1);
  const undated = name.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '');
  const known = [model, name, undated].find((candidate) => Object.hasOwn(prices, candidate));
  return known === undefined ? null : (prices[known] ?? null);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw notPrices(file, error instanceof Error ? error.message : String(error), error);
  }
}

function notPrices(file: string, why: string, cause: unknown): DevsError {
  return new DevsError(`${file} is no price table: ${why}`, {
    code: 'CONFIG_INVALID',
    remedy: 'Write a JSON object of models, each with `input` and `output` in US dollars per million tokens.',
    context: { file },
    cause,
  });
}
