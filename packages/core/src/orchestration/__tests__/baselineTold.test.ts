import { expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { ada } from '../../engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import type { GateAnswer } from '../../engine/gates/Gate.ts';
import { fakeAgents } from '../../testing/index.ts';
import type { CheckResult, StageAgents } from '../ports.ts';
import { aPipeline } from './aPipeline.ts';

const RED: CheckResult = {
  passed: false,
  exitCode: 1,
  timedOut: false,
  output: 'a is broken',
  command: 'npm test',
  flaky: ['c'],
  cases: [
    { name: 'a', state: 'failed' },
    { name: 'b', state: 'failed' },
    { name: 'c', state: 'passed' },
  ],
};

test('research, design and plan are told how the checks went before any work', async ({ db }) => {
  const told: Record<string, string | undefined> = {};
  const fake = fakeAgents({ tasks: 1 });
  const agents: Partial<StageAgents> = {
    research: (request, call) => {
      told['research'] = request.checks;
      return fake.research(request, call);
    },
    design: (request, call) => {
      told['design'] = request.checks;
      return fake.design(request, call);
    },
    distill: (request, call) => {
      told['distill'] = request.checks;
      return fake.distill(request, call);
    },
  };
  const { app, workspace } = await aPipeline(db, { tasks: 1, agents, checks: { run: async () => RED } });
  const folder = await workspace.open('shop');
  await folder.apply([{ path: 'index.js', content: 'export {};\n' }]);
  for (const answer of [{ action: 'accept', failures: ['b'] }, { approved: true }]) {
    const [gate] = (await internalsOf(app).drive('shop')).gates;
    if (gate === undefined) expect.fail('no gate');
    await app.decide(gate, { ...answer, by: ada } as GateAnswer);
  }
  expect((await internalsOf(app).drive('shop')).gates).toMatchObject([{ kind: 'dag_approval' }]);
  const words = [
    'The checks: npm test.',
    'Before any work these failed: a.',
    'These failed too, and a person accepted that they may go on failing: b.',
    'Flaky, failed and passed on the same files: c.',
  ].join('\n');
  expect(told).toEqual({ research: words, design: words, distill: words });
});
