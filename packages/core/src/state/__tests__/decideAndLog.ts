import type { Database } from 'better-sqlite3';
import { DecisionLog } from '../gates/DecisionLog.ts';
import { HitlSessionStore, type RecordedDecision } from '../gates/HitlSessionStore.ts';

/** Decides a session and logs that, as the engine does in one transaction; false for who is not the first. */
export function decideAndLog(
  db: Database,
  given: RecordedDecision,
  sessions: HitlSessionStore = new HitlSessionStore(db),
): boolean {
  const log = new DecisionLog(db, sessions);
  return sessions.decide(given, (said) => log.record(said)) !== null;
}
