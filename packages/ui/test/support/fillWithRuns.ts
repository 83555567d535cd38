import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createDatabase } from '@devs/core/state';
import { tablesOf } from '../../../core/test/support/insides.ts';

/** What every gate here shows; its hash is that of its JSON. */
const SHOWN = `Go? ${'What is to be done, and why. '.repeat(40)}`;
const HASH = createHash('sha256').update(JSON.stringify(SHOWN)).digest('hex');
const NONE = 'f'.repeat(64);

export interface Filling {
  readonly runs: number;
  /** Each so many-th run waits at a gate; the others are not begun. */
  readonly waitsEvery: number;
}

/** Fills a state file with runs `run-0`, `run-1`, … by the classes of its tables, the oldest first. */
export function fillWithRuns(dir: string, { runs, waitsEvery }: Filling): void {
  const db = createDatabase({ dbPath: join(dir, 'state.sqlite'), synchronous: 'normal' });
  const { threads, sessions } = tablesOf(db);
  const add = (n: number): void => {
    const threadId = `run-${n}`;
    const policies = { title: `Run ${n}` };
    threads.create({
      threadId,
      projectId: threadId,
      workspace: null,
      policies,
      briefSha256: NONE,
      graphFingerprint: NONE,
    });
    if (n % waitsEvery > 0) return;
    sessions.openForInterrupt({
      ...{ threadId, interruptId: 'g', questionKey: 'node_gate/g', checkpointId: 'c', taskId: threadId },
      ...{ kind: 'node_gate', artifactHash: HASH, question: { message: 'Go on?', artifact: SHOWN } },
    });
  };
  db.transaction(() => {
    for (let n = 0; n < runs; n += 1) add(n);
  }).immediate();
  db.close();
}
