// Metrics of a worker: its counters, and the text of `/metrics`.
import type { DeadNumbers, QueueLine, RunNumbers, TenantLine } from './ClusterView.ts';

/** What a worker counts since it started. */
const COUNTED = [
  'fetched',
  'claimed',
  'settled',
  'again',
  'failed',
  'leasesLost',
  'reaped',
  'swept',
  'timers',
  'restoredJobs',
  'unknownLeases',
  'failedComparisons',
  'awayRetries',
  'shippedRuns',
  'shippedBytes',
] as const;

type MeterName = (typeof COUNTED)[number];

/** Durations that a worker measures, in seconds. */
const MEASURED = ['takeUp', 'ship', 'decisionToClaim'] as const;

type MeasureName = (typeof MEASURED)[number];

/** Upper bounds of the buckets of each measure, seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60] as const;

class Histogram {
  readonly #counts = BUCKETS.map(() => 0);
  #sum = 0;
  #count = 0;

  observe(seconds: number): void {
    this.#sum += seconds;
    this.#count += 1;
    for (const [at, most] of BUCKETS.entries())
      if (seconds <= most) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** In Prometheus' text format: the end of the metric's name, and its value. */
  values(): readonly (readonly [end: string, value: number])[] {
    const buckets = BUCKETS.map((most, at) => [`_bucket{le="${most}"}`, this.#counts[at] ?? 0] as const);
    return [...buckets, ['_bucket{le="+Inf"}', this.#count], ['_sum', this.#sum], ['_count', this.#count]];
  }
}

/** Counts what a worker does, for `/metrics`. */
export class WorkerMeters {
  readonly #counts = new Map<MeterName, number>();
  readonly #measures = new Map<MeasureName, Histogram>(MEASURED.map((name) => [name, new Histogram()]));

  observe(what: MeasureName, seconds: number): void {
    this.#measures.get(what)?.observe(seconds);
  }

  valuesOf(what: MeasureName): readonly (readonly [end: string, value: number])[] {
    return this.#measures.get(what)?.values() ?? [];
  }

  add(what: MeterName, by = 1): void {
    this.#counts.set(what, this.of(what) + by);
  }

  /** A statement that carried changes. */
  shipped({ ms, runs, bytes }: { readonly ms: number; readonly runs: number; readonly bytes: number }): void {
    this.observe('ship', ms / 1000);
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
  /** Name of the deployed program, or empty. */
  readonly build: string;
  /** Names of its queues: a graph in a shape each. */
  readonly graphs: readonly string[];
  readonly meters: WorkerMeters;
  readonly numbers: RunNumbers;
  readonly dead: DeadNumbers;
  readonly queues: readonly QueueLine[];
  readonly tenants: readonly TenantLine[];
}

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Behind its name: labels, or the part of a histogram. */
  readonly values: (worker: MeasuredWorker) => readonly (readonly [end: string, value: number])[];
}

const one =
  (value: (worker: MeasuredWorker) => number): Metric['values'] =>
  (worker) => [['', value(worker)]];
const meterValues = (what: MeterName): Metric['values'] => one(({ meters }) => meters.of(what));
const labelText = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
const metricLabels = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${labelText(value)}"`)
    .join(',')}}`;
const byQueue =
  (value: (line: QueueLine) => number): Metric['values'] =>
  ({ queues }) =>
    queues.map((line) => [metricLabels({ queue: line.queue }), value(line)]);

const ofTenant =
  (value: (line: TenantLine) => number | null): Metric['values'] =>
  ({ tenants }) =>
    tenants.flatMap((line) => {
      const known = value(line);
      return known === null ? [] : [[metricLabels({ tenant: line.tenant }), known] as const];
    });

/** Includes tenants with 0 open gates; an empty cluster has the tenant `default`. */
const byTenant =
  (value: (gates: RunNumbers['gates'][number] | undefined) => number): Metric['values'] =>
  ({ numbers }) => {
    const tenants = new Set([...numbers.runs, ...numbers.gates].map(({ tenant }) => tenant));
    return [...(tenants.size === 0 ? ['default'] : tenants)].map((tenant) => [
      metricLabels({ tenant }),
      value(numbers.gates.find((gates) => gates.tenant === tenant)),
    ]);
  };

const counter = (name: string, help: string, values: Metric['values']): Metric => ({
  name,
  type: 'counter',
  help,
  values,
});
const histogram = (name: string, help: string, what: MeasureName): Metric => ({
  ...{ name, type: 'histogram', help },
  values: ({ meters }) => meters.valuesOf(what),
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
    'devs_worker_info',
    'Build of the worker, and its graphs with the version of their shape.',
    ({ build, graphs }) =>
      graphs.map((queue) => {
        const [, graph = '', shape = ''] = /^runs\.(.*)\.([^.]*)$/.exec(queue) ?? [];
        return [metricLabels({ build, graph, shape }), 1];
      }),
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
  counter(
    'devs_runs_swept_total',
    'Ended runs that this worker deleted because their retention was over.',
    meterValues('swept'),
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
  counter(
    'devs_shipped_runs_total',
    'Changes in these statements, one per run and statement.',
    meterValues('shippedRuns'),
  ),
  counter('devs_shipped_bytes_total', 'Bytes of changes in these statements.', meterValues('shippedBytes')),
  histogram('devs_ship_seconds', 'Duration of statements that stored changes.', 'ship'),
  histogram('devs_take_up_seconds', 'Time from fetching a job until the file of its run was open.', 'takeUp'),
  histogram(
    'devs_decision_to_claim_seconds',
    'Time from the oldest signal or decision that a run had not received until a worker claimed it.',
    'decisionToClaim',
  ),
  gauge(
    'devs_clock_skew_seconds',
    "How far the clock of the worker's machine is ahead of PostgreSQL's. Runs go by PostgreSQL's.",
    one(({ skewSeconds }) => skewSeconds),
  ),
  gauge('devs_runs', 'Runs by status and tenant.', ({ numbers }) =>
    numbers.runs.map(({ tenant, status, runs }) => [metricLabels({ status, tenant }), runs]),
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
    'devs_tenant_ready',
    'Jobs of the tenant that are ready for a free slot.',
    ofTenant(({ ready }) => ready),
  ),
  gauge(
    'devs_tenant_active',
    'Runs of the tenant that execute now.',
    ofTenant(({ driven }) => driven),
  ),
  gauge(
    'devs_tenant_cap',
    'Maximum number of runs of the tenant that execute at the same time, if there is one.',
    ofTenant(({ cap }) => cap),
  ),
  gauge(
    'devs_runs_without_worker',
    'Unfinished runs without a live worker that has a matching version of their graph.',
    byQueue(({ runs, workers }) => (workers === 0 ? runs : 0)),
  ),
  gauge(
    'devs_gates_open',
    'Open gates.',
    byTenant((gates) => gates?.open ?? 0),
  ),
  gauge(
    'devs_gates_oldest_seconds',
    'Waiting time of the oldest open gate.',
    byTenant((gates) => gates?.oldestSeconds ?? 0),
  ),
  gauge(
    'devs_dead_letters',
    'Dead letters: runs that were given up.',
    one(({ dead }) => dead.deadLetters),
  ),
  gauge(
    'devs_run_changes_dead_rows',
    'Rows of run_changes that vacuum has not freed.',
    one(({ dead }) => dead.deadRows),
  ),
];

/** In Prometheus' text format. */
export function metricsText(worker: MeasuredWorker): string {
  const lines = METRICS.flatMap(({ name, type, help, values }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values(worker).map(([end, value]) => `${name}${end} ${value}`),
  ]);
  return `${lines.join('\n')}\n`;
}
