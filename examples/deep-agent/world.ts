import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from './research.ts';
import { ScriptedModel, type Turn } from './scriptedModel.ts';

const task = (subagent_type: string, description: string) =>
  ['task', { subagent_type, description }] as const;

const REPORT = 'Green tea has less caffeine than coffee.';

const TURNS: Readonly<Record<'main' | 'researcher' | 'critic', readonly Turn[]>> = {
  main: [
    [['write_todos', { todos: [{ content: 'Compare tea and coffee', status: 'in_progress' }] }]],
    [
      task('researcher', 'How much caffeine is in green tea?'),
      task('critic', 'What must a report on it say?'),
    ],
    [
      ['read_file', { file_path: '/caffeine.md' }],
      ['write_file', { file_path: '/memories/tea.md', content: REPORT }],
    ],
    [['publish', { report: REPORT }]],
    'The report is published.',
  ],
  researcher: [
    [['search', { query: 'caffeine in green tea' }]],
    [['write_file', { file_path: '/caffeine.md', content: '30 mg a cup' }]],
    'The figures are in /caffeine.md.',
  ],
  critic: [[['search', { query: 'caffeine in coffee' }]], 'It must compare it with coffee.'],
};

interface WorldOptions {
  readonly latencyMs?: number;
  /** The process dies at this call, before it is recorded. @defaultValue never */
  readonly diesAt?: number;
}

/** Writes each call to `calls.log`: what was paid for. */
export function openWorld(out: string, { latencyMs = 0, diesAt = 0 }: WorldOptions = {}): World {
  mkdirSync(out, { recursive: true });
  let made = 0;
  const call = async (what: string): Promise<void> => {
    appendFileSync(join(out, 'calls.log'), `${what}\n`);
    made += 1;
    if (made === diesAt) process.kill(process.pid, 'SIGKILL');
    await sleep(latencyMs);
  };
  return {
    model: (agent) => new ScriptedModel(TURNS[agent], (turn) => call(`${agent}: turn ${turn}`)),
    search: async (query, callId) => {
      await call(`search ${callId}: ${query}`);
      return `What is known of ${query}.`;
    },
    publish: async (report, callId) => {
      await call(`publish ${callId}: ${report}`);
      return 'https://example.org/tea';
    },
  };
}
