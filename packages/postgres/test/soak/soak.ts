import { setTimeout as sleep } from 'node:timers/promises';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { query } from '../support/query.ts';

export interface SoakOptions {
  readonly url: string;
  readonly minutes: number;
  /** Runs that begin each second. */
  readonly rate: number;
  /** As `retention.ended`. */
  readonly ended: string;
  /** Between two samples, seconds. */
  readonly everySeconds: number;
  readonly tell: (sample: SoakSample) => void;
}

/** A sample. */
export interface SoakSample {
  readonly seconds: number;
  readonly started: number;
  readonly completed: number;
  /** Rows of `runs`. */
  readonly kept: number;
  readonly memoryMb: number;
  /** Of all tables and indexes of both schemas, MB. */
  readonly tablesMb: number;
  readonly deadRows: number;
}

const Mail = Annotation.Root({ text: Annotation<string>(), n: Annotation<number>() });

/** Size of each run's state, in characters. */
const TEXT = 20_000;

const mail = new StateGraph(Mail)
  .addNode('write', async ({ n }) => ({
    text: await step('write', () => String(n).padEnd(TEXT, ' dear reader,')),
  }))
  .addNode('send', async () => ({ n: await step('send', () => 1) }))
  .addEdge(START, 'write')
  .addEdge('write', 'send')
  .addEdge('send', END);

/** Begins runs at a steady rate, has a worker execute them, and samples memory and tables. */
export async function soak(options: SoakOptions): Promise<readonly SoakSample[]> {
  const { url, minutes, rate, ended, everySeconds, tell } = options;
  const [starting, working] = [postgres(url), postgres({ url, retention: { ended } })];
  const app = durable(mail, { runs: starting, graph: 'soak' });
  const driver = durable(mail, { runs: working, graph: 'soak' });
  let completed = 0;
  const worker = await Worker.start(working, {
    drivers: [driver],
    onEvent: (event) => {
      if (event.is === 'settled' && event.status === 'completed') completed += 1;
    },
  });
  const samples: SoakSample[] = [];
  const from = performance.now();
  const seconds = (): number => (performance.now() - from) / 1000;
  let started = 0;
  try {
    const isOver = (): boolean => seconds() >= minutes * 60;
    while (!isOver()) {
      for (; started < seconds() * rate && !isOver(); started += 1)
        await app.start(`soak-${started}`, { text: '', n: started });
      if (seconds() >= (samples.length + 1) * everySeconds) {
        const sample = { seconds: Math.round(seconds()), started, completed, ...(await look(url)) };
        samples.push(sample);
        tell(sample);
      }
      await sleep(Math.min(100, 1000 / rate));
    }
    return samples;
  } finally {
    await worker.stop();
    await Promise.all([app.close(), driver.close()]);
  }
}

async function look(url: string): Promise<Pick<SoakSample, 'kept' | 'memoryMb' | 'tablesMb' | 'deadRows'>> {
  const [row = {}] = await query(
    url,
    `SELECT (SELECT count(*)::int FROM devs.runs) AS kept,
       sum(pg_total_relation_size(c.oid))::float8 / 1e6 AS mb, coalesce(sum(s.n_dead_tup), 0)::int AS dead
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
     WHERE n.nspname IN ('devs', 'devs_boss') AND c.relkind = 'r'`,
  );
  return {
    kept: Number(row['kept']),
    memoryMb: Math.round(process.memoryUsage().rss / 1e6),
    tablesMb: Math.round(Number(row['mb']) * 10) / 10,
    deadRows: Number(row['dead']),
  };
}
