import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, constants } from 'node:zlib';
import { durable } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { median, percentile, round } from '../../../core/bench/state/figures.ts';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { query } from '../../test/support/query.ts';
import type { Place } from './keepers.ts';
import { proseOf, transcriptOf } from './prose.ts';

/** Runs that wait for an answer, so many of them. */
export interface Waiting {
  readonly runs: number;
  /** What each has as its state, 100 KiB. */
  readonly state: keyof typeof STATES;
  /** Of that alone, compressed as a run's file is, KiB. */
  readonly stateKb: number;
  /** In all tables and indexes, KiB each. */
  readonly kb: number;
  /** The first 50 questions, median. */
  readonly pageMs: number;
  /** From the end of a decision until a worker has the run's file open. */
  readonly claimMs: number;
  readonly claimP95Ms: number;
}

const AS_FILES = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 } };

/** That are driven to their question and answered; the others are copies of their rows. */
const REAL = 60;

const Asked = Annotation.Root({ text: Annotation<string>(), answer: Annotation<string>() });
const STATE_BYTES = 100 * 1024;
const STATES = { prose: proseOf, transcript: transcriptOf } as const;

/** Time limit and progress of a part. */
export interface WaitingTime {
  /** Larger numbers of runs begin before this time of `performance.now()`. */
  readonly until: number;
  readonly tell: (line: string) => void;
}

export async function waiting(
  place: Place,
  counts: readonly number[],
  time: WaitingTime,
): Promise<readonly Waiting[]> {
  const half = { ...time, until: (performance.now() + time.until) / 2 };
  const transcripts = await waitingWith('transcript', place, counts, half);
  return [...(await waitingWith('prose', place, counts, time)), ...transcripts];
}

function askedApp(runs: ReturnType<typeof postgres>) {
  const builder = new StateGraph(Asked)
    .addNode('ask', () => ({ answer: String(interrupt('Well?')) }))
    .addEdge(START, 'ask')
    .addEdge('ask', END);
  return durable(builder, { runs, graph: 'asked' });
}

async function waitingWith(
  state: Waiting['state'],
  { url, dir }: Place,
  counts: readonly number[],
  { until, tell }: WaitingTime,
): Promise<readonly Waiting[]> {
  const schema = `waiting_${state}`;
  const texts = Array.from({ length: REAL }, (_, n) => STATES[state](n, STATE_BYTES));
  const stateKb = median(texts.map((text) => brotliCompressSync(text, AS_FILES).length)) / 1024;
  const [mine, theirs] = [postgres({ url, dir, schema }), postgres({ url, dir, schema })];
  const [app, driver] = [askedApp(mine), askedApp(theirs)];
  const claims = new Claims();
  const found: Waiting[] = [];
  for (const count of counts) {
    if (found.length > 0 && performance.now() > until) break;
    const ids = Array.from({ length: REAL }, (_, n) => `real-${count}-${n}`);
    for (const [n, id] of ids.entries()) await app.run(id, { text: texts[n] ?? '' });
    await copyUpTo(url, schema, count);
    const worker = await Worker.start(theirs, {
      drivers: [driver],
      onEvent: (event) => event.is === 'driving' && claims.claimed(event.threadId),
    });
    await noJobs(url, schema);
    const pages = await times(20, () => app.openGates({ limit: 50 }));
    const kb = await kilobytesEach(url, schema);
    const claimed = await claimTimes(app, ids, claims);
    await worker.stop();
    found.push({
      ...{ runs: count, state, stateKb: round(stateKb, 1) },
      kb: round(kb, 1),
      pageMs: round(median(pages)),
      claimMs: round(median(claimed), 1),
      claimP95Ms: round(percentile(claimed, 0.95), 1),
    });
    tell(
      `${count} runs wait, ${state}: a page ${round(median(pages))} ms, a claim ${round(median(claimed), 1)} ms`,
    );
  }
  await Promise.all([app.close(), driver.close()]);
  return found;
}

/** Decides the gate of each run, one after another. Until a worker has taken it, ms. */
async function claimTimes(
  app: ReturnType<typeof askedApp>,
  ids: readonly string[],
  claims: Claims,
): Promise<readonly number[]> {
  const claimed: number[] = [];
  for (const id of ids) {
    const [gate] = await app.gates(id);
    if (gate === undefined) throw new Error(`Run ${id} has an open gate, or the benchmark is wrong.`);
    const decide = () => app.decide(gate, { value: 'yes', by: { kind: 'human', id: 'ada' } });
    claimed.push(await claims.timeOf(id, decide));
  }
  return claimed;
}

/** When a worker has taken a run. */
class Claims {
  readonly #told = new Map<string, (at: number) => void>();

  of(id: string): Promise<number> {
    return new Promise((resolve) => this.#told.set(id, resolve));
  }

  /** Decides its gate. From then until it was taken, ms. */
  async timeOf(id: string, decide: () => Promise<unknown>): Promise<number> {
    const open = this.of(id);
    await decide();
    const from = performance.now();
    return Math.max(0, (await open) - from);
  }

  claimed(id: string): void {
    this.#told.get(id)?.(performance.now());
  }
}

async function times(n: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let each = 0; each < n; each += 1) {
    const from = performance.now();
    await work();
    taken.push(performance.now() - from);
  }
  return taken;
}

/** Until the worker has looked at all runs that were just started: one it has in hand takes its decision without a claim. */
async function noJobs(url: string, schema: string): Promise<void> {
  const sql = `SELECT count(*)::int AS n FROM ${schema}_boss.job WHERE name LIKE 'runs.%' AND state <= 'active'`;
  while ((await query(url, sql))[0]?.['n'] !== 0) await setTimeout(100);
}

/** Copies the rows of runs that wait until there are so many. */
async function copyUpTo(url: string, schema: string, count: number): Promise<void> {
  const columnsOf = async (table: string): Promise<string> => {
    const rows = await query(
      url,
      `SELECT string_agg(column_name, ', ') AS names FROM information_schema.columns
       WHERE table_schema = $1 AND table_name = $2 AND column_name NOT IN ('run_id', 'session_id')`,
      [schema, table],
    );
    return String(rows[0]?.['names']);
  };
  const there = await query(url, `SELECT count(*)::int AS n FROM ${schema}.runs WHERE ended_at IS NULL`);
  const missing = count - Number(there[0]?.['n']);
  for (let from = 0; from < missing; from += REAL) {
    const copies = Math.min(REAL, missing - from);
    const source = `(SELECT run_id FROM ${schema}.runs WHERE run_id LIKE 'real-${count}-%' ORDER BY run_id LIMIT ${copies}) s`;
    const name = `'copy-${count}-${from}-' || t.run_id`;
    for (const table of ['runs', 'run_bases', 'run_changes']) {
      const columns = await columnsOf(table);
      await query(
        url,
        `INSERT INTO ${schema}.${table} (run_id, ${columns}) SELECT ${name}, ${columns} FROM ${schema}.${table} t JOIN ${source} USING (run_id)`,
      );
    }
    const columns = await columnsOf('gates');
    await query(
      url,
      `INSERT INTO ${schema}.gates (run_id, session_id, ${columns})
       SELECT ${name}, 'copy-${count}-${from}-' || t.session_id, ${columns} FROM ${schema}.gates t JOIN ${source} USING (run_id)`,
    );
  }
  await query(url, `ANALYZE ${schema}.runs`);
  await query(url, `ANALYZE ${schema}.gates`);
}

async function kilobytesEach(url: string, schema: string): Promise<number> {
  const rows = await query(
    url,
    `SELECT sum(pg_total_relation_size(c.oid))::float8 / 1024 / (SELECT count(*) FROM ${schema}.runs) AS kb
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind = 'r'`,
    [schema],
  );
  return Number(rows[0]?.['kb']);
}
