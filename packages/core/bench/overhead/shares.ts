import { mkdtempSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { join } from 'node:path';
import type { Keeper, Subject } from './subjects.ts';

/** Whose code a super-step is spent in. What a part of Node.js does is of whoever called it. */
export const OWNERS = [
  'LangGraph and LangChain',
  'SQLite and its driver',
  'the official saver',
  'the engine',
  'its tables',
  'its connection',
  'masking and events',
  'the graph itself',
  'the collector and the rest',
] as const;
export type Owner = (typeof OWNERS)[number];

const PLACES: readonly (readonly [RegExp, Owner])[] = [
  [/better-sqlite3/, 'SQLite and its driver'],
  [/langgraph-checkpoint-sqlite/, 'the official saver'],
  [/node_modules\/.*(?:langchain|langsmith)/, 'LangGraph and LangChain'],
  [/packages\/core\/(?:src|dist)\/engine\//, 'the engine'],
  [/packages\/core\/(?:src|dist)\/state\//, 'its tables'],
  [/packages\/core\/(?:src|dist)\/db\//, 'its connection'],
  [/packages\/core\/(?:src|dist)\/(?:masking|events)\//, 'masking and events'],
  [/^file:/, 'the graph itself'],
];

/** The driver's native methods have no file. */
const STATEMENT = /^(?:run|get|all|exec|prepare|Statement|pragma)$/;

/** Microseconds between two looks of the profiler. */
const INTERVAL = 100;

export interface ShareOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly warmUp: number;
}

/**
 * Milliseconds of processor of a super-step by whose code they are spent in, the first rounds left out: the process's time,
 * parted as the looks of V8's profiler are, which costs some of it.
 */
export async function sharesOf(
  subject: Subject,
  keeper: Keeper,
  { folder, rounds, warmUp }: ShareOptions,
): Promise<ReadonlyMap<Owner, number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  const looks = new Map<Owner, number>(OWNERS.map((owner) => [owner, 0]));
  let cpuMs = 0;
  for (let round = 0; round < warmUp + rounds; round += 1) {
    const prepared = await subject.prepare(keeper, mkdtempSync(join(folder, 'profile-')));
    if (round >= warmUp) await session.post('Profiler.start');
    const used = process.cpuUsage();
    await prepared.run();
    const { user, system } = process.cpuUsage(used);
    if (round >= warmUp) {
      const { profile } = await session.post('Profiler.stop');
      for (const owner of ownersOf(profile)) looks.set(owner, (looks.get(owner) ?? 0) + 1);
      cpuMs += (user + system) / 1000;
    }
    prepared.close();
  }
  session.disconnect();
  const all = [...looks.values()].reduce((sum, count) => sum + count, 0);
  const each = cpuMs / (rounds * subject.steps * all);
  return new Map(OWNERS.map((owner) => [owner, (looks.get(owner) ?? 0) * each]));
}

function* ownersOf({ nodes, samples = [] }: Profiler.Profile): Generator<Owner> {
  const owners = new Map<number, Owner | null>();
  const visit = (id: number, around: Owner): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const owner = ownerOf(node.callFrame);
    owners.set(id, owner === 'nobody' ? null : (owner ?? around));
    for (const child of node.children ?? []) visit(child, owner === 'nobody' ? around : (owner ?? around));
  };
  const byId = new Map(nodes.map((node) => [node.id, node]));
  visit(nodes[0]?.id ?? 0, 'the collector and the rest');
  for (const sample of samples) {
    const owner = owners.get(sample);
    if (owner !== null && owner !== undefined) yield owner;
  }
}

/** `null`: of whoever called it; `nobody`: no work of a run. */
function ownerOf({ url, functionName }: Profiler.ProfileNode['callFrame']): Owner | 'nobody' | null {
  // Waiting, and the profiler itself.
  if (functionName === '(idle)' || functionName === 'dispatch') return 'nobody';
  if (functionName === '(garbage collector)' || functionName === '(program)')
    return 'the collector and the rest';
  if (url === '' && STATEMENT.test(functionName)) return 'SQLite and its driver';
  return PLACES.find(([place]) => place.test(url))?.[1] ?? null;
}
