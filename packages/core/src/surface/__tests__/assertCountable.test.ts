import { expect, it } from 'vitest';
import type { Budget } from '../../engine/guards/Budget.ts';
import type { StageAgents } from '../../orchestration/ports.ts';
import { assertCountable } from '../assertCountable.ts';

const PRICES = { known: { input: 1, output: 1 } };
const MODEL = { name: 'openai:known', tokens: true, cost: { model: 'openai:known' } };
const FREE = { name: 'openai:mine', tokens: true, cost: { model: 'openai:mine' } };
const SILENT = { name: 'opencode', tokens: false, cost: true };
const UNKNOWN = { name: 'goose', tokens: false, cost: false, undeclared: true as const };
const TOKENS_ALONE = { name: 'codex', tokens: true, cost: false };

it.each([
  [undefined, [SILENT, FREE]],
  [{ calls: 5, ms: 5 }, [SILENT, FREE, TOKENS_ALONE, UNKNOWN]],
  [{ tokens: 5 }, [MODEL, FREE, TOKENS_ALONE]],
  [{ usd: 5 }, [MODEL, SILENT]],
  [{ usd: 5, tokens: 5 }, undefined],
] as [Budget | undefined, StageAgents['reports']][])(
  'a limit that every agent reports is taken: %j',
  (budget, reports) => {
    expect(() => assertCountable(budget, reports, PRICES)).not.toThrow();
  },
);

it.each([
  [
    { tokens: 5 },
    [MODEL, SILENT],
    'limit in tokens would never be reached: opencode does not report its tokens',
  ],
  [{ perTask: { tokens: 5 } }, [SILENT], 'opencode does not report its tokens'],
  [{ tokens: 5 }, [MODEL, UNKNOWN], 'goose is not known to report its tokens'],
  [{ usd: 5 }, [UNKNOWN], 'goose is not known to report its cost'],
  [{ usd: 5 }, [TOKENS_ALONE], 'limit in US dollars would never be reached: codex does not report its cost'],
  [{ perTask: { usd: 5 } }, [MODEL, FREE], 'there is no price of openai:mine'],
] as const)('a limit that one does not report is refused: %j', (budget, reports, words) => {
  expect(() => assertCountable(budget, reports, PRICES)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(words) }),
  );
});
