import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstOf, median } from './counting.ts';
import type { Scenario } from './Stand.ts';

/** What one run takes. Times in milliseconds. */
export interface RunCost {
  readonly serviceMs: number;
  /** From the start of a process, on a state in which nothing was ever run, until a human is asked. */
  readonly toGateMs: number;
  /** Processes while a human is awaited. */
  readonly waiting: number;
  /** From the answer until its effect, everything loaded. */
  readonly wakeMs: number;
  /** The same from the start of the process that answers. */
  readonly coldWakeMs: number;
  /** The same two of the processor; NaN where another process publishes. */
  readonly wakeCpuMs: number;
  readonly coldWakeCpuMs: number;
  readonly emptyBytes: number;
  readonly stateBytes: number;
}

/** What a fresh machine gets. */
export interface Installation {
  readonly packages: number;
  readonly bytes: number;
}

/** Bytes allocated on the disk; what is hard-linked counts once. */
export function diskUsage(path: string, seen = new Set<number>()): number {
  const stat = lstatSync(path);
  if (seen.has(stat.ino)) return 0;
  seen.add(stat.ino);
  const inside = stat.isDirectory() ? readdirSync(path) : [];
  return inside.reduce((sum, name) => sum + diskUsage(join(path, name), seen), stat.blocks * 512);
}

export function installation(folder: string): Installation {
  const modules = join(folder, 'node_modules');
  const isPackage = (name: string): boolean => name !== 'node_modules' && !name.startsWith('lock');
  return {
    packages: readdirSync(join(modules, '.pnpm')).filter(isPackage).length,
    bytes: diskUsage(modules),
  };
}

/** One whole run, its gates approved one after the other. */
export const runCost: Scenario<RunCost> = async (stand) => {
  const emptyBytes = diskUsage(stand.service.state);
  const started = Date.now();
  const worker = stand.client('work', 'post');
  await stand.waitFor('asked');
  if (stand.service.pid === null) await worker.ended;
  await sleep(500);
  const waiting = stand.processes().length;

  const spawned = Date.now();
  const approver = stand.client('approve once', 'post');
  await stand.waitFor('published');
  await stand.expectEnd(approver, 0);
  await stand.expectEnd(stand.client('approve announcement', 'post'), 0);
  await stand.waitFor('announced');
  await worker.ended;
  const entries = stand.entries();
  const [sent, published] = [firstOf(entries, 'approval sent'), firstOf(entries, 'published')];
  const isOneProcess = sent.pid === published.pid;
  return {
    serviceMs: stand.service.readyMs,
    toGateMs: firstOf(entries, 'asked').at - started,
    waiting,
    wakeMs: published.at - sent.at,
    coldWakeMs: published.at - spawned,
    wakeCpuMs: isOneProcess ? published.cpuMs - sent.cpuMs : Number.NaN,
    coldWakeCpuMs: isOneProcess ? published.cpuMs : Number.NaN,
    emptyBytes,
    stateBytes: diskUsage(stand.service.state),
  };
};

/** Of each figure by itself. */
export function medianCost(costs: readonly RunCost[]): RunCost {
  const of = (key: keyof RunCost): number => median(costs.map((cost) => cost[key]));
  return {
    serviceMs: of('serviceMs'),
    toGateMs: of('toGateMs'),
    waiting: of('waiting'),
    wakeMs: of('wakeMs'),
    coldWakeMs: of('coldWakeMs'),
    wakeCpuMs: of('wakeCpuMs'),
    coldWakeCpuMs: of('coldWakeCpuMs'),
    emptyBytes: of('emptyBytes'),
    stateBytes: of('stateBytes'),
  };
}
