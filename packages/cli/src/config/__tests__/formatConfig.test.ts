import { expect, test } from 'vitest';
import { formatConfig } from '../../project/acceptedConfig.ts';
import { projectConfigSchema } from '../ProjectConfig.ts';

const wordsOf = (config: object): readonly string[] => formatConfig(projectConfigSchema.parse(config));

test('what a configuration does is said, its defaults too', () => {
  expect(wordsOf({})).toEqual([
    'gates:    design asks a person, plan asks a person, code asks a person',
    'review:   none',
    'sandbox:  bwrap',
    'setup:    nothing',
    'check:    npm test',
    'agents:   from --agents',
    'starts:   from the checked-out commit, if this is a repository',
    'research: before the design',
    expect.stringContaining('masked in the state'),
    'budget:   none',
  ]);
});

test('what it changes is said in its own words, every word of a command apart', () => {
  expect(
    wordsOf({
      gates: { design: 'auto', dag: 'auto', review: 'auto' },
      review: 'task',
      sandbox: ['my jail', '--net'],
      setup: { argv: ['make', 'deps'], inputs: ['*.mk'] },
      caches: ['.cache'],
      checks: [{ name: 'unit', dir: 'packages/a', argv: ['npm', 'test'], timeoutMs: 5_000 }],
      agents: 'claude',
      stages: { review: 'codex' },
      agentReports: { 'acp:mine': ['tokens'] },
      repository: false,
      research: false,
      budget: { usd: 2 },
    }),
  ).toEqual([
    expect.stringContaining('design is approved by policy without asking'),
    'review:   after every task',
    'sandbox:  your own program: "my jail" --net',
    'setup:    make deps, repeated when these change: "*.mk"',
    expect.stringContaining(
      'code of agents reads: the network; your proxy, certificate and registry settings',
    ),
    '          keeps downloads of package managers in .devs/downloads; not for files that agents have changed',
    'check:    "unit" in "packages/a", up to 5 s: npm test',
    'kept:     between checks, .cache',
    'agents:   claude; review: codex',
    '          "acp:mine" is believed to report: tokens',
    'starts:   with an empty folder',
    'research: none',
    expect.stringContaining('masked in the state'),
    expect.stringContaining('"usd":2'),
  ]);
  expect(wordsOf({ sandbox: 'none', setup: ['npm', 'ci'] })).toEqual(
    expect.arrayContaining(['sandbox:  none, commands have your full access', 'setup:    npm ci']),
  );
});
