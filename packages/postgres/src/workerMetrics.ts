import type { ClusterNumbers, QueueLine } from './ClusterView.ts';
import type { Counted, WorkerMeters } from './WorkerMeters.ts';

/** What `/metrics` is made of. */
export interface MeasuredWorker {
  readonly slots: number;
  readonly busy: number;
  readonly isReady: boolean;
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
const counted = (what: Counted): Metric['values'] => one(({ meters }) => meters.of(what));
const label = (name: string, value: string): string =>
  `{${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"}`;
const byQueue =
  (value: (line: QueueLine) => number): Metric['values'] =>
  ({ queues }) =>
    queues.map((line) => [label('queue', line.queue), value(line)]);

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
    '1 while the worker takes runs.',
    one(({ isReady }) => Number(isReady)),
  ),
  gauge(
    'devs_worker_slots',
    'Runs that the worker drives at the same time, at most.',
    one(({ slots }) => slots),
  ),
  gauge(
    'devs_worker_slots_busy',
    'Runs that it drives now.',
    one(({ busy }) => busy),
  ),
  counter('devs_jobs_fetched_total', 'Jobs that the worker took from queues.', counted('fetched')),
  counter('devs_checkouts_total', 'Runs that it claimed and whose file it read.', counted('claimed')),
  counter('devs_runs_settled_total', 'Runs that it let go of as they stood.', counted('settled')),
  counter(
    'devs_runs_again_total',
    'Times that a run was told something while it was let go of.',
    counted('again'),
  ),
  counter('devs_drives_failed_total', 'Drives that ended with a fault of the engine.', counted('failed')),
  counter('devs_leases_lost_total', 'Runs that others had taken over.', counted('leasesLost')),
  counter('devs_runs_reaped_total', 'Runs that this worker took from dead ones.', counted('reaped')),
  counter(
    'devs_timers_total',
    'Runs that this worker had driven because their time had come.',
    counted('timers'),
  ),
  counter(
    'devs_jobs_restored_total',
    'Runs without a job that this worker had driven, as their rows said.',
    counted('restoredJobs'),
  ),
  counter(
    'devs_leases_unknown_total',
    'Runs that a live worker had by their rows and did not know of: they were given to others.',
    counted('unknownLeases'),
  ),
  counter(
    'devs_lease_comparisons_failed_total',
    'Times that this worker could not compare what it holds with the rows.',
    counted('failedComparisons'),
  ),
  counter(
    'devs_away_retries_total',
    'Questions to PostgreSQL that had no answer and were asked again.',
    counted('awayRetries'),
  ),
  counter('devs_ships_total', 'Statements that carried changes.', counted('ships')),
  counter('devs_shipped_runs_total', 'Changes in them, one per run and statement.', counted('shippedRuns')),
  counter('devs_shipped_bytes_total', 'Bytes of changes in them.', counted('shippedBytes')),
  counter(
    'devs_ship_seconds_total',
    'Time that they took.',
    one(({ meters }) => meters.of('shipMs') / 1000),
  ),
  gauge('devs_runs', 'Runs by status.', ({ numbers }) =>
    [...numbers.runs].map(([status, n]) => [label('status', status), n]),
  ),
  gauge(
    'devs_queue_ready',
    'Jobs that a free slot would take now.',
    byQueue(({ ready }) => ready),
  ),
  gauge(
    'devs_queue_later',
    'Jobs that are tried again later.',
    byQueue(({ later }) => later),
  ),
  gauge(
    'devs_queue_active',
    'Jobs in hand.',
    byQueue(({ active }) => active),
  ),
  gauge(
    'devs_queue_oldest_seconds',
    'How long the oldest ready job has waited.',
    byQueue(({ oldestSeconds }) => oldestSeconds),
  ),
  gauge(
    'devs_queue_workers',
    'Live workers that fetch from the queue.',
    byQueue(({ workers }) => workers),
  ),
  gauge(
    'devs_runs_without_worker',
    'Runs that have not ended and whose graph no live worker has in their shape.',
    byQueue(({ runs, workers }) => (workers === 0 ? runs : 0)),
  ),
  gauge(
    'devs_gates_open',
    'Questions that wait for a person.',
    one(({ numbers }) => numbers.openGates),
  ),
  gauge(
    'devs_gates_oldest_seconds',
    'How long the oldest of them has waited.',
    one(({ numbers }) => numbers.oldestGateSeconds),
  ),
  gauge(
    'devs_dead_letters',
    'Runs that were given up.',
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
