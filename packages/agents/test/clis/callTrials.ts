import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallUsage } from '@devs/core';
import { type AgentCall, callUsage, type StageAgents } from '@devs/core';
import { REFUSED } from './CliModelServer.ts';
import type { CodingCli } from './codingClis.ts';
import type { Place } from './Place.ts';
import { AFTER, BEFORE, FILE, SUMMARY, sumTask, VERDICT } from './sumTask.ts';
import { expectEqual } from './Trial.ts';
import { TOKENS } from './Turn.ts';

type UsageReport = Parameters<AgentCall['usage']>[0];

/** It edits in place, leaves nothing else behind, and says what it used. */
export async function edits({ project, cli, server }: Place, agents: StageAgents): Promise<string> {
  writeFileSync(join(project, FILE), BEFORE);
  const before = server.turns.length;
  const { call, used } = aCall();
  const { summary } = await agents.implement(sumTask(project), call);
  expectEqual('the file', readFileSync(join(project, FILE), 'utf8'), AFTER);
  expectEqual('the folder', readdirSync(project).join(' '), FILE);
  if (cli.reports !== 'nothing') expectEqual('the summary', summary, SUMMARY);
  return costOf(cli, used, server.turns.length - before);
}

/** What it prints is read as an answer. */
export async function answers({ project, cli, server }: Place, agents: StageAgents): Promise<string> {
  const before = server.turns.length;
  const { call, used } = aCall();
  const verdict = await agents.review(sumTask(project), call);
  expectEqual('the verdict', JSON.stringify(verdict), JSON.stringify(VERDICT));
  return costOf(cli, used, server.turns.length - before);
}

/** It has to end as a failure whose words name the reason: a person reads nothing else. */
export async function refusal({ project, cli, server }: Place, agents: StageAgents): Promise<string> {
  const key = process.env[cli.key];
  process.env[cli.key] = 'wrong-key';
  try {
    const said = await agents.implement(sumTask(project), aCall().call).then(
      () => 'nothing: it succeeded',
      (error: unknown) => (error as Error).message,
    );
    const reason = said
      .split('\n')
      .findLast((line) => line.includes(REFUSED) || line.includes('is not logged in'));
    if (reason === undefined) throw new Error(said);
    return `after ${server.refused} requests: ${reason.trim().slice(0, 160)}`;
  } finally {
    process.env[cli.key] = key;
  }
}

export function aCall(signal: AbortSignal = new AbortController().signal): {
  readonly call: AgentCall;
  readonly used: CallUsage[];
} {
  const used: CallUsage[] = [];
  const usage = (report: UsageReport): void => {
    used.push(callUsage(report));
  };
  return { used, call: { idempotencyKey: 'rig', signal, usage } };
}

/** What it says it used has to be what the server said to it. */
function costOf(
  { reports, uncounted = 0 }: CodingCli,
  [used = {}]: readonly CallUsage[],
  requests: number,
): string {
  const { tokensIn = 0, tokensOut = 0, tokensCached = 0, costUsd } = used;
  if (reports === 'nothing' || reports === 'words') return `${requests} requests, no cost said`;
  const counted = Math.min(requests, Math.max(requests - uncounted, Math.round(tokensIn / TOKENS.input)));
  expectEqual('input tokens', tokensIn, counted * TOKENS.input);
  expectEqual('output tokens', tokensOut, counted * TOKENS.output);
  if (tokensCached > 0) expectEqual('cached tokens', tokensCached, counted * TOKENS.cached);
  const said = `${requests} requests, ${tokensIn} + ${tokensOut} tokens`;
  if (reports === 'tokens') return said;
  if (costUsd === undefined || costUsd <= 0) throw new Error(`Expected a cost, got ${costUsd}.`);
  return `${said}, $${costUsd.toFixed(4)}`;
}
