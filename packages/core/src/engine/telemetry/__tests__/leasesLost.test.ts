import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { EventBus } from '../../../events/events.ts';
import { durable } from '../../app/durable.ts';
import type { MetricExporter } from '../otlpExporter.ts';

const Post = Annotation.Root({ text: Annotation<string> });

interface Batch {
  readonly scopeMetrics: readonly {
    readonly metrics: readonly {
      readonly descriptor: { readonly name: string };
      readonly dataPoints: readonly { readonly value: number }[];
    }[];
  }[];
}

/** An app, and the leases that its last metrics say were lost. */
function counting(db: Database, name: string | undefined, events: EventBus) {
  let lost: number | undefined;
  const metricExporter: MetricExporter = {
    export: (batch, done) => {
      const [scope] = (batch as Batch).scopeMetrics;
      const metric = scope?.metrics.find(({ descriptor }) => descriptor.name === 'devs_leases_lost_total');
      lost = metric?.dataPoints[0]?.value;
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  const exporter = { ...metricExporter };
  const builder = new StateGraph(Post)
    .addNode('write', () => ({ text: 'a post' }))
    .addEdge(START, 'write')
    .addEdge('write', END);
  const named = name === undefined ? {} : { name };
  const app = durable(builder, { db, ...named, events, telemetry: { exporter, metricExporter } });
  const toldAfter = async (act: () => void): Promise<number | undefined> => {
    const end = new AbortController();
    const tended = app.tend({ signal: end.signal });
    act();
    end.abort();
    await tended;
    return lost;
  };
  return { app, toldAfter };
}

test('a lost lease counts for the app of its run, not for others on the same bus', async ({ db, dbPath }) => {
  const events = new EventBus();
  const elsewhere = createDatabase({ dbPath: `${dbPath}-elsewhere` });
  const ours = counting(db, 'posts', events);
  const others = [counting(db, 'mails', events), counting(elsewhere, undefined, events)];
  await ours.app.run('post-1', { text: '' });
  const loseLease = (): void => void events.emit('LEASE_LOST', { epoch: 2 }, { threadId: 'post-1' });
  expect(await ours.toldAfter(loseLease)).toBe(1);
  for (const { toldAfter } of others) expect(await toldAfter(() => {})).toBe(0);
  elsewhere.close();
});
