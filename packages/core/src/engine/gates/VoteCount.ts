import { DevsError } from '../../errors/DevsError.ts';
import type { Vote } from '../../state/HitlVoteStore.ts';
import type { HiddenRecord, HitlSession, Principal } from '../../state/hitlSession.ts';
import type { StateFile } from '../../state/StateFile.ts';
import type { Law } from '../lawOf.ts';
import { answerPolicyOf } from './AnswerPolicy.ts';
import { closed, principalText } from './assertDecidable.ts';
import { isSamePrincipal } from './people.ts';

type VoteCountDeps = Pick<StateFile, 'sessions' | 'votes' | 'outbox'>;

/** What somebody says, as it is recorded, about what they were shown. */
interface Said {
  readonly answer: object;
  readonly artifactHash: string;
  readonly by: Principal;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly hidden?: HiddenRecord | undefined;
}

interface VoteTally {
  readonly decision: object | null;
  readonly isNew: boolean;
}

/** Counts the yeses at gates that want them of certain people or of several. */
export class VoteCount {
  readonly #deps: VoteCountDeps;

  constructor(deps: VoteCountDeps) {
    this.#deps = deps;
  }

  /**
   * In the transaction of the decision, which the last vote is.
   *
   * @returns What to record as the decision, which is `null` where others have to vote; `isNew` is false where all this
   *   was said before.
   * @throws DevsError `GATE_ALREADY_DECIDED`, `GATE_STALE`, `ALREADY_VOTED`
   */
  count(session: HitlSession, { answer, artifactHash, by, at: votedAt, hidden }: Said, law: Law): VoteTally {
    const { approvals } = answerPolicyOf(session);
    const { approved, feedback = null } = answer as {
      readonly approved?: boolean;
      readonly feedback?: string;
    };
    if (approvals === undefined || approved !== true) return { decision: answer, isNew: true };
    const { sessions, votes: store, outbox } = this.#deps;
    const vote = { principal: by, artifactHash, feedback, votedAt };
    const isRepeated = store.of(session.id).some(({ principal }) => isSamePrincipal(principal, by));
    if (isRepeated || !store.cast(session.id, vote))
      return repeatedVote(sessions.require(session.id), vote, law);
    const votes = store.of(session.id);
    const { id: sessionId, kind, threadId, taskId } = session;
    const { count: needed } = approvals;
    outbox.record(
      'GATE_VOTED',
      {
        ...{ sessionId, kind, principal: principalText(by), votes: votes.length, needed },
        ...(hidden !== undefined && { hidden }),
      },
      { taskId, ...(threadId !== null && { threadId }) },
    );
    const decision = votes.length < needed ? null : { ...answer, votes: votes.map(voteView) };
    return { decision, isNew: true };
  }
}

function repeatedVote(session: HitlSession, { principal, feedback }: Vote, law: Law): VoteTally {
  const before = session.votes?.find((vote) => isSamePrincipal(vote.principal, principal));
  if (session.status !== 'awaiting_approval' || before === undefined) throw closed(session);
  if (law.keep(before.feedback).value === law.keep(feedback).value) return { decision: null, isNew: false };
  throw new DevsError(
    `${principalText(principal)} has already approved gate "${session.id}" with a different answer.`,
    {
      code: 'ALREADY_VOTED',
      remedy: 'Each person can approve once. To stop the proposal, reject it.',
      context: { sessionId: session.id, principal: principalText(principal) },
    },
  );
}

/** Votes as the decision names them. */
const voteView = ({ principal, votedAt, feedback }: Vote) => ({
  by: principal.id,
  at: new Date(votedAt).toISOString(),
  ...(feedback !== null && { feedback }),
});
