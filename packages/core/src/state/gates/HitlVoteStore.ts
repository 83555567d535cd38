import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { isSound, sealOf, useSeals, VOTE_SEAL } from '../rows/rows.ts';
import type { Principal, Vote } from './hitlSession.ts';

interface VoteRow extends Omit<Vote, 'principal'> {
  readonly kind: Principal['kind'];
  readonly id: string;
  readonly sound: 1;
}

const VALUES = ['@sessionId', '@kind', '@id', '@artifactHash', '@feedback', '@votedAt'];

// Under the condition of a decision: the gate is open and shows what was read.
const CAST = `
  INSERT INTO hitl_votes (${VOTE_SEAL.columns.join(', ')}, row_sha256)
  SELECT ${VALUES.join(', ')}, ${sealOf(VOTE_SEAL, VALUES)} FROM hitl_sessions
  WHERE id = @sessionId AND status = 'awaiting_approval' AND interrupt_id IS NOT NULL
    AND artifact_hash = @artifactHash
  ON CONFLICT DO NOTHING`;

const SELECT_OF = `
  SELECT principal_kind AS kind, principal_id AS id, artifact_hash AS artifactHash, feedback, voted_at AS votedAt,
         ${isSound(VOTE_SEAL)} AS sound
  FROM hitl_votes WHERE session_id = ? ORDER BY rowid`;

/** Rows of `hitl_votes`: who has said yes at a gate that wants more than one. */
export class HitlVoteStore {
  readonly #cast: Statement<[object]>;
  readonly #selectOf: Statement<[string], VoteRow>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    useSeals(db);
    this.#cast = prepare(db, CAST);
    this.#selectOf = prepare(db, SELECT_OF);
  }

  /** In the caller's transaction. False where the gate is closed or shows something else, or this one has voted. */
  cast(sessionId: string, { principal, ...vote }: Vote): boolean {
    return this.#cast.run({ sessionId, ...principal, ...vote }).changes === 1;
  }

  /** Oldest first. @throws DevsError `STATE_CORRUPT` */
  of(sessionId: string): readonly Vote[] {
    return this.#selectOf
      .all(sessionId)
      .map(({ kind, id, sound: _, ...vote }) => ({ principal: { kind, id }, ...vote }));
  }
}
