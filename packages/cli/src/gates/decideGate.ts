import { DevsError, type Gate, type HitlSession } from '@devs/core';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { maskAsRecorded } from '../project/maskAsRecorded.ts';
import { withRuns } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { usageError } from '../usageError.ts';
import { type Answer, assertTakes, type ChoiceName, GATE_WORDS } from './gateWords.ts';
import { type NamedGate, resolveGate } from './resolveGate.ts';
import { ShownGates } from './ShownGates.ts';

export interface DecideOptions {
  readonly by?: string;
  /** Beginning of the hash that was read; when left out, the version this user was shown last. */
  readonly hash?: string;
}

export interface Decision {
  readonly choice: ChoiceName;
  readonly answer: Answer;
}

/** What a human says about a gate; `null` for nothing. */
export type Decide = (gate: NamedGate) => Decision | null | Promise<Decision | null>;

/** Records a decision. The run is not driven: whoever drives it takes the decision up. */
export async function decideGate(
  name: string,
  decide: Decide,
  { by, hash }: DecideOptions,
  session: Session,
): Promise<ExitCode> {
  if (hash !== undefined && !/^[0-9a-f]{8,64}$/i.test(hash)) {
    throw usageError(
      `--hash ${hash} is no beginning of a hash.`,
      'Give at least 8 hex digits of the one devs show prints.',
    );
  }
  const principal = humanFrom(by);
  return withRuns(session, async (devs) => {
    const named = await resolveGate(devs, name);
    const { run, sessionId, kind, gate } = named;
    await maskAsRecorded(run);
    const decision = await decide(named);
    if (decision === null) {
      session.out.note('Nothing was decided; the gate stays open.');
      return EXIT.resumable;
    }
    assertTakes(kind, decision.choice, { gate: name, devs: session.devs });
    const shown = new ShownGates(session);
    if (hash === undefined && gate !== null && isYes(decision)) assertShown(gate, shown, session);
    // A closed gate has no hash to approve; the engine refuses and says who decided.
    const artifactHash = hash ?? gate?.artifactHash ?? '';
    const decided = await run.decide({ sessionId, artifactHash }, { ...decision.answer, by: principal });
    shown.forget({ sessionId });
    const { driver, gates } = await run.status();
    const next =
      driver === null
        ? `recorded; ${session.devs('resume', run.id)} ${decision.choice === 'edit' ? 'opens the gate again, with your version' : 'goes on'}`
        : 'recorded; the process that drives the run takes it up';
    session.out.result({ ...view(decided), openGates: gates.length }, [
      `${SAID[decision.choice]}: ${GATE_WORDS[kind].name} of ${run.id}, hash ${decided.artifactHash?.slice(0, 12)}, by ${principal.id}`,
      next,
    ]);
    return EXIT.ok;
  });
}

/** What lets a proposal pass. A no, an edit and an end of the run approve nothing. */
const isYes = ({ choice }: Decision): boolean => choice === 'approve' || choice === 'value';

/**
 * A yes is for what was read.
 *
 * @throws DevsError `GATE_STALE` when this user was shown another version last, or none.
 */
function assertShown(gate: Gate, shown: ShownGates, { devs }: Session): void {
  const last = shown.hashOf(gate);
  if (last === gate.artifactHash) return;
  const id = gate.sessionId.slice(0, 8);
  const what = last === null ? 'was not shown to you yet' : 'is not what you were shown';
  throw new DevsError(`What gate ${id} shows now ${what}.`, {
    code: 'GATE_STALE',
    remedy: `Read it with ${devs('show', id)}, which prints the answers with their --hash; then decide.`,
    context: { sessionId: gate.sessionId, artifactHash: gate.artifactHash },
  });
}

/** Begins the sentence about a decision. */
const SAID: Readonly<Record<ChoiceName, string>> = {
  approve: 'approved',
  reject: 'rejected',
  edit: 'edited',
  retry: 'to be tried again',
  skip: 'given up',
  continue: 'allowed to go on',
  raise: 'raised',
  use: 'taken as recorded',
  repeat: 'to be made again',
  again: 'to be checked again',
  'first-task': 'to be mended first',
  accept: 'accepted as it is',
  abort: 'aborted',
  value: 'answered',
};

function view({ id, threadId, kind, artifactHash, decision, principal, decidedAt }: HitlSession) {
  const at = decidedAt === null ? null : new Date(decidedAt).toISOString();
  return { sessionId: id, run: threadId, kind, artifactHash, decision, principal, decidedAt: at };
}
