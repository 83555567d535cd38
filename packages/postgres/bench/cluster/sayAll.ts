import { table } from '../../../core/bench/state/figures.ts';
import type { BesideSaver } from './besideSaver.ts';
import type { KeeperFigures, PerRuns } from './figures.ts';
import type { Starts } from './starts.ts';
import type { Takeovers } from './takeovers.ts';
import type { Waiting } from './waiting.ts';

/** What was measured. */
export interface Said {
  readonly starts?: readonly Starts[];
  readonly steps?: {
    /** Super-steps of a run. */
    readonly length: number;
    readonly figures: readonly { readonly calls: boolean; readonly keepers: readonly KeeperFigures[] }[];
    readonly bytes: number;
  };
  readonly runs?: PerRuns;
  readonly saver?: readonly BesideSaver[];
  readonly waiting?: readonly Waiting[];
  readonly takeover?: Takeovers;
}

export function sayAll({ starts, steps, runs, saver, waiting, takeover }: Said): void {
  if (starts) sayStarts(starts);
  if (steps) saySteps(steps);
  if (runs) sayRuns(runs);
  if (saver) saySaver(saver);
  if (waiting) sayWaiting(waiting);
  if (takeover) sayTakeover(takeover);
}

function sayStarts(starts: readonly Starts[]): void {
  const head = ['starts at once', 'caller CPU ms', 'PostgreSQL CPU ms', 'a second of a core'];
  const rows = starts.map(({ atOnce, callerCpuMs, serverCpuMs, perSecond }) => [
    ...[atOnce, callerCpuMs, serverCpuMs, perSecond],
  ]);
  console.log(`\n${table(head, rows)}`);
}

function saySteps({ length, figures, bytes }: NonNullable<Said['steps']>): void {
  for (const { calls, keepers } of figures) {
    console.log(`\nA super-step ${calls ? 'with one recorded call' : 'without a call'}\n`);
    const whole = `of a run of ${length}:`;
    const head = ['keeper', 'worker CPU ms', 'of a file', 'PostgreSQL CPU ms', 'a second, all runs'];
    const rows = keepers.map(({ keeper, further, whole: all }) => [
      ...[keeper, further.workerCpuMs, further.toFile, further.serverCpuMs, further.perSecond],
      ...[all.workerCpuMs, all.toFile, all.serverCpuMs],
    ]);
    console.log(table([...head, `${whole} worker`, 'of a file', 'PostgreSQL'], rows));
  }
  console.log(`\n${bytes} bytes of changes per super-step with one recorded call`);
}

function sayRuns({ counts, keepers }: PerRuns): void {
  console.log('\nA super-step with one recorded call, whole runs: worker / PostgreSQL CPU ms\n');
  const rows = keepers.map(({ keeper, workerCpuMs, serverCpuMs }) => [
    keeper,
    ...counts.map((_, at) => `${workerCpuMs[at]} / ${serverCpuMs[at]}`),
  ]);
  console.log(table(['keeper', ...counts.map((count) => `${count} at a time`)], rows));
}

function saySaver(saver: readonly BesideSaver[]): void {
  console.log('\nWhole runs without a call, beside PostgresSaver\n');
  const head = [
    'super-steps',
    'at a time',
    'worker CPU ms',
    'its',
    'ratio',
    'least, most',
    'of its PostgreSQL',
  ];
  const rows = saver.map(({ steps, atOnce, workerCpuMs, saverWorkerCpuMs, worker, server }) => [
    ...[steps, atOnce, workerCpuMs, saverWorkerCpuMs, worker[0], `${worker[1]}, ${worker[2]}`, server],
  ]);
  console.log(table(head, rows));
}

function sayWaiting(waiting: readonly Waiting[]): void {
  const head = [
    'runs that wait',
    'state',
    'that alone, KB',
    'KB each',
    'page of gates ms',
    'decision → claim p50 ms',
    'p95 ms',
  ];
  const rows = waiting.map(({ runs, state, stateKb, kb, pageMs, claimMs, claimP95Ms }) => [
    ...[runs, state, stateKb, kb, pageMs, claimMs, claimP95Ms],
  ]);
  console.log(`\n${table(head, rows)}`);
}

function sayTakeover({ p50Ms, p95Ms, mostMs, kills }: Takeovers): void {
  console.log(
    `\nnext call elsewhere after kill -9: p50 ${p50Ms} ms, p95 ${p95Ms} ms, most ${mostMs} ms (${kills} kills)`,
  );
}
