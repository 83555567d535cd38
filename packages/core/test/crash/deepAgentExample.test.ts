import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HumanMessage } from '@langchain/core/messages';
import { describe, expect } from 'vitest';
import { research } from '../../../../examples/deep-agent/research.ts';
import { openWorld } from '../../../../examples/deep-agent/world.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';

const input = () => ({
  messages: [new HumanMessage({ id: 'ask', content: 'Write a report on green tea.' })],
});

describe('the example of a deep agent', () => {
  test('goes on after a kill among its subagents, and publishes what a person has approved', async ({
    dbPath,
  }) => {
    const out = dirname(dbPath);
    const calls = () => readFileSync(join(out, 'calls.log'), 'utf8').split('\n').slice(0, -1);
    const env = { DEEP_AGENT_OUT: out, DEEP_AGENT_DIES_AT: '6' };
    const { signal, stderr } = await spawnProgram('examples/deep-agent/main.ts', ['start', 'tea'], env)
      .finished;
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
    expect(calls()).toHaveLength(6);

    const app = research(join(out, 'reports.sqlite'), openWorld(out));
    const { status, gates } = await app.run('tea', input());
    expect(status).toBe('waiting');
    expect(gates.map(({ artifact }) => artifact)).toMatchObject([{ tool: 'publish' }]);
    for (const gate of gates) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'you' } });
    const { values } = await app.run('tea');
    expect(values?.messages.at(-1)?.text).toBe('The report is published.');
    expect(Object.keys(values?.files ?? {})).toEqual(['/caffeine.md']);
    app.close();

    const made = calls();
    const inFlight = made.filter((call, at) => made.indexOf(call) !== at);
    expect(calls().slice(4, 6)).toEqual(expect.arrayContaining([...new Set(inFlight)]));
    expect([...new Set(made)].toSorted()).toEqual([
      'critic: turn 1',
      'critic: turn 2',
      ...[1, 2, 3, 4, 5].map((turn) => `main: turn ${turn}`),
      'publish publish-4-1: Green tea has less caffeine than coffee.',
      ...[1, 2, 3].map((turn) => `researcher: turn ${turn}`),
      'search search-1-1: caffeine in coffee',
      'search search-1-1: caffeine in green tea',
    ]);
  });
});
