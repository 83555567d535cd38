import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { recordedKeys, taskResults } from '../support/recordedKeys.ts';
import { type Driven, driveDurably, onceEach } from './drive.ts';
import type { Program } from './Program.ts';
import { type Effect, effectsIn, whatGave } from './World.ts';

/** Where a program's process dies: right after so many calls, the last of which is not recorded. */
export interface Place {
  readonly topic: string;
  readonly name: string;
  readonly dir: string;
  readonly diesAfter: number;
}

/**
 * Drives the programs in one process, which dies when each of them has come to its place.
 *
 * @param child - The bundled `killed.child.ts`.
 */
export function killAt(child: string, places: readonly Place[]): Promise<void> {
  const args = places.map(({ topic, name, dir, diesAfter }) => [topic, name, dir, diesAfter]);
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [child, JSON.stringify(args)], (error, _stdout, stderr) => {
      if (error?.signal === 'SIGKILL') resolve();
      else reject(new Error(`The process ended by itself: ${stderr}`, { cause: error }));
    });
  });
}

export type Resumed = Omit<Driven, 'visits' | 'asked' | 'effects'> & {
  /** Of calls that are in the ledger once, or were in flight and made again under the same key. */
  readonly effects: readonly string[];
  /** Calls that were recorded, or were not in flight, and were made again. */
  readonly madeAgain: readonly Effect[];
};

/** What a killed program has to come to, by what LangGraph alone made of it. */
export function wholeOf(plain: Driven): Resumed {
  const { error, values, history } = plain;
  return { error, values, history, effects: onceEach(plain), madeAgain: [] };
}

/** Drives to its end, in this process, what another process left. */
export async function goOn(program: Program, { dir, diesAfter }: Place): Promise<Resumed> {
  const ledger = join(dir, 'ledger.jsonl');
  const before = effectsIn(ledger);
  if (before.length !== diesAfter) throw new Error(`${before.length} calls were made, not ${diesAfter}.`);
  const dbPath = join(dir, 'state.sqlite');
  const recorded = new Set([...recordedKeys(dbPath), ...taskResults(dbPath).flatMap(whatGave)]);
  const { error, values, history, effects } = await driveDurably(program, dir);
  const inFlight = new Set(before.map(({ key }) => key).filter((key) => !recorded.has(key)));
  const seen = new Set(recorded);
  const madeAgain = effects.slice(diesAfter).filter(({ key }) => seen.has(key) || !seen.add(key));
  const isLost = ({ key }: Effect): boolean => inFlight.has(key) && !seen.has(key);
  const made = [
    ...before.filter((effect) => recorded.has(effect.key) || isLost(effect)),
    ...effects.slice(diesAfter),
  ];
  return { error, values, history, effects: made.map(({ what }) => what).sort(), madeAgain };
}
