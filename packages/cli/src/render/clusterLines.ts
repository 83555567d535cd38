import type { ClusterAdmin } from '@devs/postgres';
import type { Session } from '../project/Session.ts';
import { columns, type Line, styled } from '../terminal/Line.ts';

type QueueView = Awaited<ReturnType<ClusterAdmin['queue']>>;

/** What waits for a worker, whose it is, and what was given up. */
export function queueLines({ queues, tenants, deadLetters }: QueueView, { devs }: Session): readonly Line[] {
  const rows = queues.map(({ queue, ready, later, active, oldestSeconds, runs, workers }) => [
    queue,
    ...[ready, later, active].map(String),
    ready === 0 ? '-' : duration(oldestSeconds),
    String(runs),
    workers === 0 ? 'none' : String(workers),
  ]);
  const [head = '', ...lines] = columns([
    ['queue', 'ready', 'later', 'executing', 'oldest', 'runs', 'workers'],
    ...rows,
  ]);
  const stranded = queues.filter(({ runs, workers }) => runs > 0 && workers === 0);
  return [
    ...(queues.length === 0 ? ['No runs are waiting, and no workers are connected.'] : [head]),
    ...lines.map((text, at) => styled(isStranded(queues[at]) ? 'due' : undefined, text)),
    ...(stranded.length === 0 ? [] : ['', formatStranded(stranded.map(({ runs }) => runs))]),
    ...(tenants.length === 0 ? [] : ['', ...formatTenants(tenants)]),
    ...(deadLetters.length === 0 ? [] : ['', ...deadLines(deadLetters, devs)]),
  ];
}

const isStranded = (line: QueueView['queues'][number] | undefined): boolean =>
  line !== undefined && line.runs > 0 && line.workers === 0;

function formatStranded(runs: readonly number[]): Line {
  const count = runs.reduce((sum, each) => sum + each, 0);
  const text = `${count === 1 ? '1 run has' : `${count} runs have`} no worker with a matching version of their graph`;
  return { style: 'due', text };
}

function deadLines(letters: QueueView['deadLetters'], devs: Session['devs']): readonly Line[] {
  const rows = letters.map(({ threadId, queue, attempts, at, error }) => [
    threadId,
    queue,
    String(attempts),
    at.toISOString(),
    error,
  ]);
  return [
    ...columns([['dead letter', 'queue', 'attempts', 'since', 'error'], ...rows]),
    `after you fixed the cause: ${devs('redrive', letters[0]?.threadId ?? '')}`,
  ];
}

export function formatTenants(tenants: Awaited<ReturnType<ClusterAdmin['tenants']>>): readonly Line[] {
  if (tenants.length === 0) return ['There are no runs.'];
  const rows = tenants.map(({ tenant, cap, driven, ready, runs }) => [
    tenant,
    cap === null ? '-' : String(cap),
    ...[driven, ready, runs].map(String),
  ]);
  return columns([['tenant', 'cap', 'executing', 'ready', 'runs'], ...rows]);
}

export function workerLines(workers: Awaited<ReturnType<ClusterAdmin['workers']>>): readonly Line[] {
  if (workers.length === 0) return ['There are no workers.'];
  const rows = workers.map(({ id, host, pid, slots, busy, draining, isAlive, seenAt, queues }) => [
    id,
    host,
    String(pid),
    `${busy} of ${slots}`,
    !isAlive ? 'dead' : draining ? 'draining' : 'yes',
    seenAt.toISOString(),
    queues.join(' ') || '-',
  ]);
  return columns([['worker', 'host', 'process', 'busy', 'accepts runs', 'seen', 'queues'], ...rows]);
}

/** `0:42`, `2:10:03`. */
function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
