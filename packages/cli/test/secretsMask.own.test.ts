import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import type { ProjectConfigInput } from '../src/config/ProjectConfig.ts';
import { bundledBin } from './support/bundledBin.ts';
import { callMain } from './support/callMain.ts';
import { AGENTS, test } from './support/fixtures.ts';
import { stateHome } from './support/stateHome.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

// A mask is a process's and never taken back: what masks broadly is a process of its own, and this one never does.

type Devs = (dir: string, argv: readonly string[]) => Promise<number | null>;

const BRIEFED = 'hunter2-hunter2';
const EDITED = 'winter3-winter3';
const ANSWERED = 'summer4-summer4';

let bin = '';
beforeAll(async () => {
  bin = await bundledBin(join(process.env['HOME'] ?? '', 'secretsMask'));
});

const here: Devs = async (dir, argv) => (await callMain(dir, argv)).exitCode;

const ownProcess: Devs = async (dir, argv) => {
  const env = { ...process.env, XDG_STATE_HOME: stateHome() };
  return spawnSync(process.execPath, [bin, ...argv], { cwd: dir, env }).status;
};

/** Those of the texts that are anywhere in the bytes of the state file and of its log. */
function inState(dir: string, ...texts: readonly string[]): readonly string[] {
  const files = readdirSync(join(dir, '.devs')).filter((name) => name.startsWith('state.sqlite'));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(dir, '.devs', name))));
  return texts.filter((text) => bytes.includes(text));
}

interface Story {
  readonly brief: string;
  readonly secrets?: ProjectConfigInput['secrets'];
  /** What goes on with the run, under a configuration without the setting. */
  readonly again: 'resume' | 'run';
}

/** A run up to the gate of its plan; what a human writes into the design and what a model answers name a password. */
async function upToThePlan(dir: string, { brief, secrets, again }: Story, devs: Devs): Promise<void> {
  const recording = readFileSync(AGENTS.replace('replay:', ''), 'utf8');
  const said = recording.replace('Write sum(a, b).', `Write sum(a, b). password=${ANSWERED}`);
  writeFileSync(join(dir, 'recording.jsonl'), said);
  writeFileSync(join(dir, 'brief.md'), brief);
  const config = { agents: 'replay:recording.jsonl', sandbox: 'none' } as const;
  const start = ['run', 'brief.md', '--id', 'sum'];
  writeConfig(dir, { ...config, ...(secrets && { secrets }) });
  expect(await devs(dir, [...start, ...trusting(dir)])).toBe(75);

  writeConfig(dir, config);
  await here(dir, ['edit', 'sum', '--out', 'design.md']);
  const design = readFileSync(join(dir, 'design.md'), 'utf8');
  writeFileSync(join(dir, 'design.md'), design.replace('One function', `password=${EDITED}\n\nOne function`));
  expect(await devs(dir, ['edit', 'sum', '--file', 'design.md'])).toBe(0);
  const goOn = again === 'run' ? [...start, ...trusting(dir)] : ['resume', 'sum'];
  expect(await devs(dir, goOn)).toBe(75);
  await here(dir, ['show', 'sum']);
  expect(await devs(dir, ['approve', 'sum'])).toBe(0);
  expect(await devs(dir, goOn)).toBe(75);
  expect(inState(dir, 'Write sum(a, b).')).toHaveLength(1);
}

const NAMING = `# Sum\n\nLog in with password=${BRIEFED}\n`;

test('what only a name gives away is in the state, as other prose is', async ({ dir }) => {
  await upToThePlan(dir, { brief: NAMING, again: 'resume' }, here);
  expect(inState(dir, BRIEFED, EDITED, ANSWERED)).toEqual([BRIEFED, EDITED, ANSWERED]);
});

test.for([
  { brief: NAMING, again: 'resume' },
  { brief: '# Sum\n', again: 'run' },
] as const)(
  'a run that was started to mask it does so in every process, whatever the configuration says later: $again',
  { timeout: 60_000 },
  async (story, { dir }) => {
    await upToThePlan(dir, { ...story, secrets: { mask: 'broad' } }, ownProcess);
    expect(inState(dir, BRIEFED, EDITED, ANSWERED)).toEqual([]);
  },
);

test('a run without agents keeps the brief masked, too', { timeout: 60_000 }, async ({ dir }) => {
  writeFileSync(join(dir, 'brief.md'), NAMING);
  writeConfig(dir, { agents: 'none', secrets: { mask: 'broad' } });
  expect(await ownProcess(dir, ['run', 'brief.md', ...trusting(dir)])).toBe(75);
  expect(inState(dir, 'Log in with', BRIEFED)).toEqual(['Log in with']);
});
