import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programFile } from '../../../core/test/support/programFile.ts';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { damagesOf } from '../chaos/damagesOf.ts';
import { judge } from '../chaos/judge.ts';
import { type Entry, entriesOf, note } from '../chaos/ledger.ts';
import { branchOf, CALLS, lifeApp } from '../chaos/life.ts';
import { answerAll } from '../chaos/lifeWorker.ts';
import { query } from '../support/query.ts';
import type { FreezePoint } from './points.ts';

export interface FreezeOptions {
  readonly url: string;
  readonly dir: string;
  /** Has the worker taken for dead at once, not after ten seconds. */
  readonly isHastened?: boolean;
}

/** What came of a worker that stood still, was taken for dead, and went on while another one made a call of its run. */
export interface Thawed {
  /** What PostgreSQL has of the run, before and after it went on. */
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
  /** Calls that it made meanwhile. */
  readonly calls: number;
  readonly violations: readonly string[];
}

const RUN = 'life';

/** @param point - Where it stands still. */
export async function freezeAndThaw(point: FreezePoint, options: FreezeOptions): Promise<Thawed> {
  const schema = point.name.replaceAll(' ', '_');
  const dir = join(options.dir, schema);
  mkdirSync(dir);
  const ledger = join(dir, 'ledger');
  writeFileSync(ledger, '');
  const entries = (): readonly Entry[] => entriesOf(ledger);
  const runs = postgres({ url: options.url, schema, dir });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { pid } = process;
  const app = lifeApp(runs, async (run, name) => {
    const nonce = randomUUID();
    note(ledger, { is: 'begun', at: Date.now(), pid, run, name, nonce });
    await released;
    return nonce;
  });
  await app.start(RUN, { run: RUN });
  const args = [options.url, ledger, dir, schema];
  const frozen = await frozenAt(point, args, entries);
  const worker = await Worker.start(runs, {
    drivers: [app],
    onEvent: (event) => {
      if (event.is === 'driving' || event.is === 'lost')
        note(ledger, { is: event.is, pid, run: event.threadId });
    },
  });
  const answering = new AbortController();
  const answered = Promise.allSettled([answerAll(app, answering.signal)]);
  try {
    if (options.isHastened === true)
      await query(options.url, `UPDATE "${schema}".workers SET seen_at = 'epoch' WHERE pid = $1`, [
        frozen.pid,
      ]);
    await until(() => entries().some((entry) => entry.is === 'begun' && entry.pid === pid));
    const before = await settled(() => stored(options.url, schema));
    const thawedAt = entries().length;
    note(ledger, { is: 'thawed', pid: frozen.pid ?? 0 });
    frozen.kill('SIGCONT');
    await until(async () => (await seen(options.url, schema, frozen.pid)) > 0);
    await sleep(1000); // for what it would do
    const after = await stored(options.url, schema);
    const calls = entries()
      .slice(thawedAt)
      .filter((entry) => entry.is === 'begun' && entry.pid === frozen.pid).length;
    release();
    await app.result(RUN, { wait: true });
    const { ended, violations } = await damagesOf(runs, app, [RUN]);
    const verdict = judge(entries(), ended, { names: CALLS, branchOf });
    return { before, after, calls, violations: [...verdict.violations, ...violations] };
  } finally {
    answering.abort();
    release();
    await answered;
    frozen.kill('SIGKILL');
    await worker.stop({ drainMs: 0 });
    await runs.close();
  }
}

async function frozenAt(
  point: FreezePoint,
  args: readonly string[],
  entries: () => readonly Entry[],
): Promise<ChildProcess> {
  const reaps = point.name === 'while it reaps';
  // Somebody dies in a call, for the other one to reap.
  const first = reaps ? await started([...args, 'nowhere']) : null;
  if (first !== null) await until(() => entries().some(({ is }) => is === 'begun'));
  const worker = await started([...args, point.name]);
  if (first !== null) {
    note(args[1] ?? '', { is: 'killed', pid: first.pid ?? 0 });
    first.kill('SIGKILL');
  }
  await until(() => entries().some(({ is }) => is === 'frozen'));
  return worker;
}

async function started(args: readonly string[]): Promise<ChildProcess> {
  const program = programFile(new URL('freezing.child.ts', import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

/** What PostgreSQL has of the runs. */
const stored = (url: string, schema: string): Promise<readonly unknown[]> =>
  query(
    url,
    `SELECT to_jsonb(r) - 'updated_at' AS row FROM "${schema}".runs r
     UNION ALL SELECT jsonb_build_array(seq, md5(bytes)) FROM "${schema}".run_changes
     UNION ALL SELECT jsonb_build_array(seq, part, md5(bytes)) FROM "${schema}".run_bases
     UNION ALL SELECT to_jsonb(p) - 'bytes' FROM "${schema}".run_parts p
     UNION ALL SELECT to_jsonb(g) FROM "${schema}".gates g
     UNION ALL SELECT to_jsonb(s) FROM "${schema}".signals s
     ORDER BY 1`,
  );

async function seen(url: string, schema: string, pid: number | undefined): Promise<number> {
  const sql = `SELECT 1 FROM "${schema}".workers WHERE pid = $1 AND seen_at > now() - interval '2 s'`;
  return (await query(url, sql, [pid])).length;
}

/** Until it says the same twice. */
async function settled(ask: () => Promise<readonly unknown[]>): Promise<readonly unknown[]> {
  for (let last = await ask(); ; ) {
    await sleep(500);
    const next = await ask();
    if (JSON.stringify(next) === JSON.stringify(last)) return next;
    last = next;
  }
}

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await sleep(20);
}
