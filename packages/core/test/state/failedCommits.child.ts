// Stores checkpoints while commits fail in the operating system, repeats each failed call, and says what it found in
// between. The descriptor of the log leads to `device` for a moment: /dev/full has no space, /dev/null cannot be flushed.
// With `traced` the faults come from outside.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunnableConfig } from '@langchain/core/runnables';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';
import { CONFIG, checkpointAt, METADATA, writesAt } from './ackedCheckpoints.ts';

export interface FailedCommits {
  /** By the engine's code and SQLite's. */
  readonly faults: Record<string, number>;
  /** Failed calls that a process killed at that moment would have left on the disk; looked for with `traced`. */
  onDisk: number;
  /** Failed commits that the process itself could read before it repeated them. */
  readable: number;
  checkpoints: number;
}

interface Call {
  readonly write: (saver: SqliteSaver) => Promise<unknown>;
  /** Throws where only a part of what was written is there. */
  readonly isStored: (saver: SqliteSaver) => Promise<boolean>;
}

const [, , dbPath = '', device = '', fault = '', count = ''] = process.argv;
const log = `${dbPath}-wal`;

const found: FailedCommits = { faults: {}, onDisk: 0, readable: 0, checkpoints: 0 };
const saver = new SqliteSaver(createDatabase({ dbPath }));
const descriptor = device === 'traced' ? null : descriptorOf(log);

while ((found.faults[fault] ?? 0) < Number(count)) {
  found.checkpoints += 1;
  for (const call of callsAt(found.checkpoints)) await repeatUntilItSucceeds(call);
}
saver.close();
process.stdout.write(JSON.stringify(found));

async function repeatUntilItSucceeds(call: Call): Promise<void> {
  if (descriptor !== null) lead(descriptor, device, 'w'); // not to be read: a device gives zeros
  while (!(await succeeds(call))) {
    if (descriptor === null && (await isStoredAfterAKill(call))) found.onDisk += 1;
  }
  if (!(await call.isStored(saver))) throw new Error('lost');
}

async function succeeds(call: Call): Promise<boolean> {
  try {
    await call.write(saver);
    return true;
  } catch (error) {
    if (!isDevsError(error)) throw error;
    const kind = `${error.code} ${String(error.context['sqlite'])}`;
    found.faults[kind] = (found.faults[kind] ?? 0) + 1;
    if (descriptor !== null) lead(descriptor, log, 'r+');
    found.readable += (await call.isStored(saver)) ? 1 : 0;
    return false;
  }
}

/** What the next process finds if this one is killed now. It repeats the call, too. */
async function isStoredAfterAKill(call: Call): Promise<boolean> {
  const copy = join(dirname(dbPath), 'copy', 'state.sqlite');
  mkdirSync(dirname(copy));
  // By another process: to close a descriptor of an open file drops the locks of this one.
  execFileSync('cp', [dbPath, log, dirname(copy)]);
  const survivor = new SqliteSaver(createDatabase({ dbPath: copy }));
  const stored = await call.isStored(survivor);
  await call.write(survivor);
  if (!(await call.isStored(survivor))) throw new Error('lost after a kill');
  survivor.close();
  rmSync(dirname(copy), { recursive: true });
  return stored;
}

function callsAt(at: number): readonly Call[] {
  const { checkpoint, newVersions } = checkpointAt(at);
  const writes = writesAt(at);
  const config = configAt(at);
  return [
    {
      write: (to) => to.put(at === 1 ? CONFIG : configAt(at - 1), checkpoint, METADATA, newVersions),
      isStored: async (to) => isWhole((await to.getTuple(config))?.checkpoint, checkpoint),
    },
    {
      write: (to) => to.putWrites(config, writes, `task-${at}`),
      isStored: async (to) => {
        const pending = (await to.getTuple(config))?.pendingWrites ?? [];
        const expected = writes.map((write) => [`task-${at}`, ...write]);
        return isWhole(pending.length === 0 ? undefined : pending, expected);
      },
    },
  ];
}

function configAt(at: number): RunnableConfig {
  return { configurable: { ...CONFIG.configurable, checkpoint_id: checkpointAt(at).checkpoint.id } };
}

function isWhole(stored: unknown, expected: unknown): boolean {
  if (stored === undefined) return false;
  if (JSON.stringify(stored) !== JSON.stringify(expected)) throw new Error(`torn: ${JSON.stringify(stored)}`);
  return true;
}

function descriptorOf(path: string): number {
  const leadsThere = (name: string): boolean => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false; // the descriptor that listed the folder
    }
  };
  return Number(readdirSync('/proc/self/fd').find(leadsThere));
}

/** Lets an open descriptor lead to another file. Nothing else opens files in this process meanwhile. */
function lead(open: number, path: string, flags: string): void {
  closeSync(open);
  const lower: number[] = [];
  for (let next = openSync(path, flags); next !== open; next = openSync(path, flags)) lower.push(next);
  for (const other of lower) closeSync(other);
}
