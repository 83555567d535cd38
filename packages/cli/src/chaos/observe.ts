import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { GitWorkspace } from '@devs/agents';
import { doctor, openReadOnly } from '@devs/core';
import { EventStore, STATE_FILE, StepStore, ThreadStore } from '@devs/core/internal';

/** The one run of a folder; the same everywhere, so that results can be compared. */
export const CHAOS_RUN = 'chaos';
export const CHAOS_TASKS = 2;

/** What a driver has left behind. */
export interface Observation {
  /** Keys of the agents' calls, as the driver made them. */
  readonly calls: readonly string[];
  /** Events the driver was told of. */
  readonly told: readonly string[];
  /** Events in the state file. */
  readonly logged: readonly string[];
  /** Keys of the steps that are finished in the state file; a call's is the key it was made with. */
  readonly recorded: ReadonlySet<string>;
  /** What `devs doctor` says of the state file. */
  readonly sound: boolean;
  readonly status: string;
  /** Times in a row that the run was taken up after a kill and made no progress; after a few it is set aside. */
  readonly recoveries: number;
}

export const NOTHING: Observation = {
  calls: [],
  told: [],
  logged: [],
  recorded: new Set(),
  sound: true,
  status: 'created',
  recoveries: 0,
};

/** Reads what a process has left, without repairing anything. */
export function observe(dir: string): Observation {
  const encryptionKey = process.env['DEVS_ENCRYPTION_KEY']; // the drivers have it, too
  const db = openReadOnly({ dbPath: path.join(dir, '.devs', STATE_FILE), encryptionKey });
  try {
    const { status, recoveries } = new ThreadStore(db).require(CHAOS_RUN);
    const steps = new StepStore(db).listForThread(CHAOS_RUN).filter(({ state }) => state === 'done');
    return {
      calls: readWholeLines(path.join(dir, 'calls.log')),
      told: readWholeLines(path.join(dir, 'events.log')),
      logged: eventsIn(new EventStore(db)),
      recorded: new Set(steps.map(({ threadId, lgTaskId, name }) => `${threadId}/${lgTaskId}/${name}`)),
      sound: doctor(db).ok,
      status,
      recoveries,
    };
  } finally {
    db.close();
  }
}

/** How a run ended: its commits and its tree. */
export async function runResultOf(dir: string): Promise<string> {
  const workspace = await new GitWorkspace({ dir }).open(CHAOS_RUN);
  const subjects = (await workspace.log()).map(({ subject }) => subject);
  return [...subjects, await workspace.snapshot()].join('\n');
}

/** A kill may cut the last line short. */
export function readWholeLines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

function eventsIn(store: EventStore): readonly string[] {
  const events: string[] = [];
  for (let afterSeq = 0; ; ) {
    const page = store.list(CHAOS_RUN, { afterSeq });
    if (page.length === 0) return events;
    events.push(...page.map(({ name, payload }) => `${name} ${JSON.stringify(payload)}`));
    afterSeq = page.at(-1)?.seq ?? afterSeq;
  }
}
