import { type PriceTable, priceOf } from '../config/prices.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import type { Budget } from '../engine/guards/Budget.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { StageAgents } from '../orchestration/ports.ts';
import { hasEnded } from '../state/threads/threadRecords.ts';
import { recordedAgents } from './views.ts';

/**
 * Refuses a budget that would never be reached, because an agent does not report what it limits.
 *
 * @throws DevsError `CONFIG_INVALID`
 */
export function assertCountable(
  budget: Budget | undefined,
  reports: StageAgents['reports'] | undefined,
  prices: PriceTable,
): void {
  const limits = (measure: 'tokens' | 'usd'): boolean =>
    budget?.[measure] !== undefined || budget?.perTask?.[measure] !== undefined;
  const silent = limits('tokens') ? reports?.find(({ tokens }) => !tokens) : undefined;
  if (silent !== undefined) throw uncountable(...unreported(silent, 'tokens'));
  const free = limits('usd') ? reports?.find(({ cost }) => !isKnown(cost, prices)) : undefined;
  if (free === undefined) return;
  if (typeof free.cost !== 'object') throw uncountable(...unreported(free, 'cost'));
  throw uncountable(
    `there is no price of ${free.name}`,
    'US dollars',
    'Add its price to your table (DEVS_PRICES), or use',
  );
}

/** Why an agent cannot reach a limit in tokens or cost. */
function unreported(
  { name, undeclared }: NonNullable<StageAgents['reports']>[number],
  figure: 'tokens' | 'cost',
): Parameters<typeof uncountable> {
  const unit = figure === 'cost' ? 'US dollars' : figure;
  if (undeclared !== true) return [`${name} does not report its ${figure}`, unit];
  const setting = `"agentReports" in .devs/config.json, or ${figure === 'cost' ? 'countsCost' : 'countsTokens'} of its program`;
  return [
    `${name} is not known to report its ${figure}`,
    unit,
    `If it does, declare that: ${setting}. Else use`,
  ];
}

/**
 * The same for agents that a drive has and the run was not started with: one that waits is not refused for what it was begun with.
 *
 * @throws DevsError `CONFIG_INVALID`
 */
export function assertCountableOf(
  threadId: string,
  { name, reports }: StageAgents,
  store: EngineStore,
): void {
  const recorded = recordedAgents(threadId, store);
  const { status, policies } = store.threads.require(threadId);
  const isBegun = recorded === null ? store.steps.costOf(threadId).requests > 0 : recorded.name === name;
  if (isBegun || hasEnded(status)) return;
  assertCountable(policies['budget'] as Budget | undefined, reports, store.prices);
}

const isKnown = (cost: NonNullable<StageAgents['reports']>[number]['cost'], prices: PriceTable): boolean =>
  typeof cost === 'object' ? priceOf(cost.model, prices) !== null : cost;

const uncountable = (why: string, unit: string, first = 'Use'): DevsError =>
  new DevsError(`The limit in ${unit} would never be reached: ${why}.`, {
    code: 'CONFIG_INVALID',
    remedy: `${first} a limit of requests or of time (--budget-calls, --budget-time), or other agents.`,
  });
