import { env } from 'node:process';
import pg from 'pg';
import { postgres } from '../../src/postgres.ts';
import { stepsDriver } from './stepsDriver.ts';

// A worker of a process of its own; its calls are rows, and end when the row of `open` is there.
const url = String(env['DEVS_DATABASE_URL']);
const pool = new pg.Pool({ connectionString: url, max: 4 }).on('error', () => undefined);
const runs = postgres(url);
const name = String(process.pid);
const call = async (runId: string, step: number): Promise<void> => {
  await pool.query('INSERT INTO calls VALUES ($1, $2, $3)', [runId, step, name]);
  // The one who opens it has the lock until then.
  await pool.query('SELECT pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)');
};
const worker = await runs.work({
  drivers: [stepsDriver({ call })],
  slots: Number(env['SLOTS'] ?? 4),
  onEvent: (event) => void process.stdout.write(`${JSON.stringify({ ...event, error: undefined })}\n`),
});
process.stdout.write(`${JSON.stringify({ is: 'started' })}\n`);
process.once('SIGTERM', () => {
  void worker
    .stop()
    .then(() => runs.close())
    .then(() => pool.end());
});
