// `pnpm bench:chat [--quick] [--json]`: a chat of 300 turns with messages of 100 KB and five photos of 3 MB, kept by `durable`
// and, as far as they come, by LangGraph's own savers. See docs/internals/benchmarks.md. Ends with code 1 where ours does not end, or its
// file grows faster than what was said.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Keeper, Talk } from './chat/talk.child.ts';
import { MB, median, round, table } from './state/figures.ts';

const quick = process.argv.includes('--quick');
const json = process.argv.includes('--json');
const child = fileURLToPath(new URL('chat/talk.child.ts', import.meta.url));
const TURNS = quick ? 40 : 300;
/** MB of file and memory at which a chat is broken off. */
const MAX_MB = quick ? 1_500 : 4_000;
/** Bytes of the file, over bytes that were said. */
const MAX_GROWTH = 8;
const AT = quick ? [10, 20, 40] : [10, 100, 300];

function talkOf(keeper: Keeper): Talk {
  const folder = mkdtempSync(join(tmpdir(), 'devs-chat-'));
  const flags = [
    '--conditions=@devs/source',
    '--no-warnings',
    '--max-old-space-size=4096',
    '--import',
    'tsx',
  ];
  const args = [...flags, child, keeper, String(TURNS), folder, String(MAX_MB)];
  try {
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Talk;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds of the turns around one, counted from 1. */
function around(turns: readonly number[], turn: number): number | string {
  if (turns.length < turn) return '–';
  return round(median(turns.slice(Math.max(0, turn - 5), Math.min(turns.length, turn + 4))), 0);
}

const keepers: readonly Keeper[] = ['devs', 'langgraph-sqlite', 'langgraph-memory'];
const talks = keepers.map((keeper) => ({ keeper, ...talkOf(keeper) }));
const ours = talks.find(({ keeper }) => keeper === 'devs');
const growth = (ours?.file ?? Number.POSITIVE_INFINITY) / (ours?.said ?? 1);
const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
if (json) console.log(JSON.stringify({ machine, quick, talks, growth }));
else {
  const head = [
    'kept by',
    'turns',
    's',
    'processor s',
    ...AT.map((turn) => `ms at ${turn}`),
    'said MB',
    'file MB',
    'peak RSS MB',
  ];
  const rows = talks.map(({ keeper, turns, processor, said, file, rss }) => [
    keeper,
    turns.length,
    round(turns.reduce((sum, ms) => sum + ms, 0) / 1000, 1),
    round(processor / 1000, 1),
    ...AT.map((turn) => around(turns, turn)),
    round(said / MB, 0),
    file === null ? '–' : round(file / MB, 0),
    round(rss / MB, 0),
  ]);
  console.log(`${table(head, rows)}\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`);
}
const isDone = ours?.turns.length === TURNS && ours.messages === 2 * TURNS;
if (!isDone || growth > MAX_GROWTH) process.exitCode = 1;
