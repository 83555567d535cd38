import type { Database } from 'better-sqlite3';
import { HumanInTheLoopManager } from '../../src/orchestration/hitl.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';

/** When a decision was asked for and when it was on disk: ns, of the system's monotonic clock. */
export interface Answered {
  readonly before: bigint;
  readonly after: bigint;
}

/** The question that a run waits with; `undefined` while it has none. */
export const openQuestion = (db: Database, run: string) =>
  new HitlSessionStore(db).listOpen(run).find(({ interruptId }) => interruptId !== null);

export function answerOpen(db: Database, run: string): Answered {
  const question = openQuestion(db, run);
  if (question === undefined) throw new Error(`"${run}" waits for nobody.`);
  const { id, artifactHash } = question;
  const manager = new HumanInTheLoopManager(db);
  const decision = {
    artifactHash: artifactHash ?? '',
    answer: { value: true },
    by: { kind: 'human', id: 'ada' },
  };
  const before = process.hrtime.bigint();
  manager.decide(id, decision as Parameters<typeof manager.decide>[1]);
  return { before, after: process.hrtime.bigint() };
}
