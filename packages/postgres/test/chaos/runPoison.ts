import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_DEATHS } from '../../src/jobs/Jobs.ts';
import { postgres } from '../../src/postgres.ts';
import { query } from '../support/query.ts';
import { startPostgres } from '../support/startPostgres.ts';
import { Fleet } from './Fleet.ts';
import { workApp } from './workApp.ts';

/** How a run ends its process: by itself, as native code that crashes does, with too little memory. */
export const POISONS = ['exit', 'abort', 'memory'] as const;

export interface PoisonOptions {
  /** One after the other, each with another poison. */
  readonly rounds: number;
  /** @defaultValue 3 */
  readonly workers?: number;
  readonly onProgress?: (rounds: number) => void;
}

export interface PoisonReport {
  readonly rounds: number;
  /** Processes that have ended, of each round. */
  readonly deaths: readonly number[];
  readonly goodRuns: number;
  /** From the start of a round to the end of its last good run, ms, the longest. */
  readonly goodMs: number;
  /** From the start of a round to its dead letter, ms, the longest. */
  readonly letterMs: number;
  readonly violations: readonly string[];
}

const GOOD = 6;
const PROGRAM = new URL('poison.child.ts', import.meta.url);
/** Something is stuck then, ms. */
const STUCK_MS = 120_000;

interface Round {
  readonly nth: number;
  readonly deaths: number;
  readonly goodMs: number;
  readonly letterMs: number;
  readonly violations: readonly string[];
}

/** Drives six good runs beside one that ends every process that drives it, by workers that are started again. */
export async function runPoison({ rounds, workers = 3, onProgress }: PoisonOptions): Promise<PoisonReport> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-poison-'));
  const ledger = join(dir, 'ledger');
  writeFileSync(ledger, '');
  const server = await startPostgres();
  const runs = postgres({ url: server.url, dir });
  const fleet = new Fleet({
    url: server.url,
    dir,
    ledger,
    slots: 10,
    callMs: 30,
    program: PROGRAM,
    spares: 1,
  });
  const app = workApp(runs, () => Promise.reject(new Error('This process drives nothing.')));
  let deaths = 0;
  let isOver = false;
  const keepUp = async (): Promise<void> => {
    const worker = await fleet.add();
    worker.once('exit', () => {
      if (isOver) return;
      deaths += 1;
      void keepUp();
    });
  };

  async function drive(nth: number): Promise<Round> {
    const before = deaths;
    const good = Array.from({ length: GOOD }, (_, which) => `good-${nth}-${which}`);
    const poison = `poison-${POISONS[nth % POISONS.length]}-${nth}`;
    const from = performance.now();
    const since = (): number => Math.round(performance.now() - from);
    for (const id of [...good.slice(0, nth % GOOD), poison, ...good.slice(nth % GOOD)])
      await app.start(id, { run: id });
    const { leases } = await runs.driving();
    let [goodMs, letterMs] = [0, 0];
    while ((goodMs === 0 || letterMs === 0) && since() < STUCK_MS) {
      const sql = `SELECT 1 FROM devs.runs WHERE run_id = ANY ($1) AND status <> 'completed'`;
      if (goodMs === 0 && (await query(server.url, sql, [good])).length === 0) goodMs = since();
      if (letterMs === 0 && (await leases.deadLetters()).some(({ threadId }) => threadId === poison))
        letterMs = since();
      await sleep(50);
    }
    await sleep(2500); // whoever would take it once more has done so by now
    const letters = (await leases.deadLetters()).filter(({ threadId }) => threadId === poison);
    const violations = [
      ...(goodMs === 0 ? [`round ${nth}: a good run has not ended`] : []),
      ...(letters.length === 1 ? [] : [`round ${nth}: ${letters.length} dead letters`]),
      ...letters.flatMap(({ error }) =>
        error.includes(`${MAX_DEATHS} processes`) ? [] : [`round ${nth}: ${error}`],
      ),
      ...(deaths - before > MAX_DEATHS ? [`round ${nth}: ${deaths - before} processes have ended`] : []),
    ];
    return { nth, deaths: deaths - before, goodMs, letterMs, violations };
  }

  try {
    await Promise.all(Array.from({ length: workers }, keepUp));
    const all: Round[] = [];
    for (let nth = 0; nth < rounds; nth += 1) {
      all.push(await drive(nth));
      onProgress?.(nth + 1);
    }
    return {
      ...{ rounds, deaths: all.map((round) => round.deaths), goodRuns: GOOD * rounds },
      goodMs: Math.max(...all.map(({ goodMs }) => goodMs)),
      letterMs: Math.max(...all.map(({ letterMs }) => letterMs)),
      violations: all.flatMap(({ violations }) => violations),
    };
  } finally {
    isOver = true;
    await fleet.end();
    await runs.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
