import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@devs/core/state';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { durable } from '../../core/src/engine/durable.ts';
import { EngineStore } from '../../core/src/engine/EngineStore.ts';
import { step } from '../../core/src/engine/node/step.ts';
import { ownGraphProfile } from '../../core/src/engine/ownGraphProfile.ts';
import { STEP_CODEC } from '../../core/src/engine/saver/stepCodec.ts';
import { EventBus } from '../../core/src/events/EventBus.ts';
import { HeldFile } from '../src/HeldFile.ts';
import { RunFiles } from '../src/RunFiles.ts';
import { Shipper } from '../src/Shipper.ts';
import { migrate } from '../src/schema.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';

let server: PostgresServer;
let pool: pg.Pool;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'devs-held-'));
  server = await startPostgres();
  pool = new pg.Pool({ connectionString: server.url, max: 4 });
  const client = await pool.connect();
  await migrate(client, 'devs');
  client.release();
});
afterAll(async () => {
  await pool.end();
  await server.stop();
  rmSync(dir, { recursive: true });
});

const Own = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

class Dead extends Error {}

describe('the engine on run files', () => {
  test('goes on elsewhere from what has arrived, whenever it dies', async () => {
    let n = 0;
    const property = fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
      async (deaths) => {
        n += 1;
        const runId = `e${n}`;
        const files = new RunFiles(pool, 'devs');
        const empty = createDatabase({ dbPath: ':memory:' });
        const file = empty.serialize();
        empty.close();
        file.set([2, 2], 18);
        await files.create({ runId, tenant: 't', queue: 'q', schemaVersion: 1, file });
        const calls: string[] = [];
        const drive = async (diesAt: number) => {
          const claim = await files.claim(runId, 'w', 1);
          if (claim === null) throw new Error('no claim');
          const held = await HeldFile.checkout(claim, {
            files,
            shipper: new Shipper(pool, { schema: 'devs' }),
            dir,
          });
          let arrivals = 0;
          const outlet = {
            arrived: () => {
              const way = held.arrived();
              if (way === null) return null;
              arrivals += 1;
              return arrivals === diesAt ? way.then(() => Promise.reject(new Dead('dead'))) : way;
            },
          };
          const events = new EventBus();
          const store = new EngineStore(held.db, { events, outlet, codec: STEP_CODEC });
          const node = (name: string) => async () => ({
            log: [
              await step(name, () => {
                calls.push(name);
                return name;
              }),
            ],
          });
          const builder = new StateGraph(Own)
            .addNode('a', node('a'))
            .addNode('b', node('b'))
            .addNode('c', () => ({ log: [`c ${String(interrupt('?'))}`] }))
            .addEdge(START, 'a')
            .addEdge('a', 'b')
            .addEdge('b', 'c')
            .addEdge('c', END);
          const app = durable(
            builder,
            { db: held.db, events },
            {
              profile: ownGraphProfile<typeof Own.State>(),
              store,
              endOf: () => ({ status: 'completed', reason: null }),
            },
          );

          try {
            let result = await app.run(runId, { log: [] });
            if (result.status === 'suspended') {
              await app.decide(result.gates[0]!, { value: 'yes', by: { kind: 'human', id: 'ada' } });
              result = await app.run(runId, { log: [] });
            }
            await held.arrived();
            return result;
          } finally {
            held.close();
          }
        };
        for (const diesAt of deaths) await drive(diesAt).catch(() => undefined);
        const result = await drive(0);
        expect(result).toMatchObject({ status: 'completed', values: { log: ['a', 'b', 'c yes'] } });
        for (const name of ['a', 'b'])
          expect(calls.filter((call) => call === name).length).toBeLessThanOrEqual(1 + deaths.length);
        return;
      },
    );
    await fc.assert(property, { numRuns: 6, endOnFailure: true });
  });
});
