// Metrics of a worker: its counters, and the text of `/metrics`.
import type { ClusterNumbers, QueueLine } from './ClusterView.ts';

/** What a worker counts since it started. */
const COUNTED = [
  'fetched',
  'claimed',
  'settled',
  'again',
  'failed',
  'leasesLost',
  'reaped',
  'timers',
  'restoredJobs',
  'unknownLeases',
  'failedComparisons',
  'awayRetries',
  'ships',
  'shippedRuns',
  'shippedBytes',
  'shipMs',
] as const;

type MeterName = (typeof COUNTED)[number];

/** Counts what a worker does, for `/metrics`. */
export class WorkerMeters {
  readonly #counts = new Map<MeterName, number>();

  add(what: MeterName, by = 1): void {
    this.#counts.set(what, this.of(what) + by);
  }

  /** A statement that carried changes. */
  shipped({ ms, runs, bytes }: { readonly ms: number; readonly runs: number; readonly bytes: number }): void {
    this.add('ships');
    this.add('shipMs', ms);
    this.add('shippedRuns', runs);
    this.add('shippedBytes', bytes);
  }

  of(what: MeterName): number {
    return this.#counts.get(what) ?? 0;
  }
}

/** What `/metrics` is made of. */
interface MeasuredWorker {
  readonly slots: number;
  readonly busy: number;
  readonly isReady: boolean;
  readonly skewSeconds: number;
  readonly meters: WorkerMeters;
  readonly numbers: ClusterNumbers;
  readonly queues: readonly QueueLine[];
}

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly values: (worker: MeasuredWorker) => readonly (readonly [labels: string, value: number])[];
}

const one =
  (value: (worker: MeasuredWorker) => number): Metric['values'] =>
  (worker) => [['', value(worker)]];
const meterValues = (what: MeterName): Metric['values'] => one(({ meters }) => meters.of(what));
const metricLabel = (name: string, value: string): string =>
  `{${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"}`;
const byQueue =
  (value: (line: QueueLine) => number): Metric['values'] =>
  ({ queues }) =>
    queues.map((line) => [metricLabel('queue', line.queue), value(line)]);

const counter = (name: string, help: string, values: Metric['values']): Metric => ({
  name,
  type: 'counter',
  help,
  values,
});
const gauge = (name: string, help: string, values: Metric['values']): Metric => ({
  name,
  type: 'gauge',
  help,
  values,
});

/** Every metric of a worker; docs/reference/metrics.md lists them. Those of the whole cluster are the same from each of its workers. */
export const METRICS: readonly Metric[] = [
  gauge(
    'devs_worker_ready',
    '1 while the worker accepts runs.',
    one(({ isReady }) => Number(isReady)),
  ),
  gauge(
    'devs_worker_slots',
    'Maximum number of runs that the worker executes at the same time.',
    one(({ slots }) => slots),
  ),
  gauge(
    'devs_worker_slots_busy',
    'Runs that the worker executes now.',
    one(({ busy }) => busy),
  ),
  counter('devs_jobs_fetched_total', 'Jobs that the worker fetched from queues.', meterValues('fetched')),
  counter('devs_checkouts_total', 'Runs that the worker claimed and loaded.', meterValues('claimed')),
  counter('devs_runs_settled_total', 'Runs that the worker released.', meterValues('settled')),
  counter(
    'devs_runs_again_total',
    'Signals or decisions that arrived while a run was being released.',
    meterValues('again'),
  ),
  counter('devs_drives_failed_total', 'Executions that ended with an engine error.', meterValues('failed')),
  counter('devs_leases_lost_total', 'Runs that other workers took over.', meterValues('leasesLost')),
  counter(
    'devs_runs_reaped_total',
    'Runs that this worker took over from dead workers.',
    meterValues('reaped'),
  ),
  counter('devs_timers_total', 'Runs that this worker queued because they were due.', meterValues('timers')),
  counter(
    'devs_jobs_restored_total',
    'Runs without a job that this worker queued from their rows.',
    meterValues('restoredJobs'),
  ),
  counter(
    'devs_leases_unknown_total',
    'Runs whose rows named a live worker that did not have them; they were given to other workers.',
    meterValues('unknownLeases'),
  ),
  counter(
    'devs_lease_comparisons_failed_total',
    'Failed comparisons of the leases of this worker with their rows.',
    meterValues('failedComparisons'),
  ),
  counter(
    'devs_away_retries_total',
    'Queries to PostgreSQL that failed and were repeated.',
    meterValues('awayRetries'),
  ),
  counter('devs_ships_total', 'Statements that stored changes.', meterValues('ships')),
  counter(
    'devs_shipped_runs_total',
    'Changes in these statements, one per run and statement.',
    meterValues('shippedRuns'),
  ),
  counter('devs_shipped_bytes_total', 'Bytes of changes in these statements.', meterValues('shippedBytes')),
  counter(
    'devs_ship_seconds_total',
    'Duration of these statements.',
    one(({ meters }) => meters.of('shipMs') / 1000),
  ),
  gauge(
    'devs_clock_skew_seconds',
    "How far the clock of the worker's machine is ahead of PostgreSQL's. Runs go by PostgreSQL's.",
    one(({ skewSeconds }) => skewSeconds),
  ),
  gauge('devs_runs', 'Runs by status.', ({ numbers }) =>
    [...numbers.runs].map(([status, n]) => [metricLabel('status', status), n]),
  ),
  gauge(
    'devs_queue_ready',
    'Jobs that are ready for a free slot.',
    byQueue(({ ready }) => ready),
  ),
  gauge(
    'devs_queue_later',
    'Jobs to be retried later.',
    byQueue(({ later }) => later),
  ),
  gauge(
    'devs_queue_active',
    'Active jobs.',
    byQueue(({ active }) => active),
  ),
  gauge(
    'devs_queue_oldest_seconds',
    'Waiting time of the oldest ready job.',
    byQueue(({ oldestSeconds }) => oldestSeconds),
  ),
  gauge(
    'devs_queue_workers',
    'Live workers that fetch from the queue.',
    byQueue(({ workers }) => workers),
  ),
  gauge(
    'devs_runs_without_worker',
    'Unfinished runs without a live worker that has a matching version of their graph.',
    byQueue(({ runs, workers }) => (workers === 0 ? runs : 0)),
  ),
  gauge(
    'devs_gates_open',
    'Open gates.',
    one(({ numbers }) => numbers.openGates),
  ),
  gauge(
    'devs_gates_oldest_seconds',
    'Waiting time of the oldest open gate.',
    one(({ numbers }) => numbers.oldestGateSeconds),
  ),
  gauge(
    'devs_dead_letters',
    'Dead letters: runs that were given up.',
    one(({ numbers }) => numbers.deadLetters),
  ),
  gauge(
    'devs_run_changes_dead_rows',
    'Rows of run_changes that vacuum has not freed.',
    one(({ numbers }) => numbers.deadRows),
  ),
];

/** In Prometheus' text format. */
export function metricsText(worker: MeasuredWorker): string {
  const lines = METRICS.flatMap(({ name, type, help, values }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values(worker).map(([labels, value]) => `${name}${labels} ${value}`),
  ]);
  return `${lines.join('\n')}\n`;
}
