import type { Database } from 'better-sqlite3';
import { ada, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { durable } from '../../src/engine/durable.ts';
import { step } from '../../src/engine/node/step.ts';

/** The runs that deeds are done to: `waits` at its gate, and `e0` to `e2`, which have ended. */
export function deedsApp(db: Database) {
  const first = async () => ({ log: [await step('call', () => 'called')] });
  return durable(twoSteps(first), { db, gates: { second: ({ log }) => log }, now: () => 1000 });
}

type App = ReturnType<typeof deedsApp>;

export const ENDED = ['e0', 'e1', 'e2'];

export async function prepare(app: App): Promise<void> {
  for (const id of [...ENDED, 'waits']) await app.run(id, { log: [id] });
  for (const id of ENDED) {
    for (const gate of await app.gates(id)) await app.decide(gate, { approved: true, by: ada });
    await app.run(id);
  }
}

/** What a human does to a run from outside. */
export const DEEDS = {
  fork: async (app: App) => void (await app.fork('e0', { as: 'new', by: ada })),
  update: async (app: App) => void (await app.updateState('waits', { log: ['by hand'] }, { by: ada })),
  delete: async (app: App) => void (await app.delete('e0', { by: ada })),
  expire: async (app: App) => void (await app.deleteOlderThan({ endedBefore: new Date(2000), by: ada })),
} as const;

export type Deed = keyof typeof DEEDS;
