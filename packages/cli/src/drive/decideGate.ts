import { isDevsError, type Orchestrator, type Run } from '@devs/core';
import type { HitlSession } from '@devs/core/internal';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import type { DecideFlags } from '../flags/decideFlags.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { parseSpec } from '../flags/runSpec.ts';
import {
  DECISION_RECORDED,
  type Decide,
  formatRecordedDecision,
  openVote,
  recordDecision,
  type Signed,
} from '../gates/recordDecision.ts';
import { resolveGate } from '../gates/resolveGate.ts';
import { codeInGit, withProject, withRuns } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { maskAsRecorded, specOf } from '../project/specOf.ts';
import { resumeCommand } from '../render/nextCommands.ts';
import { usageError } from '../usageError.ts';

/** What a decision that is only recorded does without: agents, sandboxes, git. */
const goingOn = () => import('./resumeParts.ts');

/** Records a decision, and with `go` drives the run on. Without it whoever drives the run takes the decision up. */
export async function decideGate(
  name: string,
  decide: Decide,
  { by, hash, go, withHidden, via = 'command' }: DecideFlags & Pick<Signed, 'via'>,
  session: Session,
): Promise<ExitCode> {
  if (hash !== undefined && !/^[0-9a-f]{8,64}$/i.test(hash)) {
    throw usageError(
      `--hash ${hash} is not the start of a hash.`,
      'Use at least the first 8 hex digits of the hash that devs show prints.',
    );
  }
  const signed = { by: humanFrom(by), hash, name, via, withHidden };
  const asked = { name, decide, signed };
  if (go === true) return decideAndGo(asked, session);
  return withRuns(
    session,
    async (devs) => {
      const recorded = await recordAnswer(asked, devs, session);
      if (recorded === null) return EXIT.resumable;
      const status = await recorded.run.status();
      const openGates = status.gates.length;
      session.out.result({ ...view(recorded.decided), openGates }, [
        recorded.words,
        formatNext(recorded, status, session),
      ]);
      return EXIT.ok;
    },
    { code: codeInGit(session) },
  );
}

interface DecideCommand {
  readonly name: string;
  readonly decide: Decide;
  readonly signed: Signed;
}

/** Agents that are missing are told before anything is recorded. */
async function decideAndGo(asked: DecideCommand, session: Session): Promise<ExitCode> {
  const { id, isDriven } = await withRuns(session, async (devs) => {
    const { run } = await resolveGate(devs, asked.name);
    return { id: run.id, isDriven: (await run.status()).driver !== null };
  });
  if (isDriven)
    return decideGate(
      asked.name,
      asked.decide,
      { by: asked.signed.by.id, ...(asked.signed.via && { via: asked.signed.via }), ...seenBy(asked) },
      session,
    );
  const { agentsFrom, chooseLangGraph, driveRun } = await goingOn();
  const spec = await specOf(id, {}, session);
  chooseLangGraph(spec, session);
  return withProject(session, await agentsFrom(spec, session), async (devs) => {
    const recorded = await recordAnswer(asked, devs, session);
    if (recorded === null) return EXIT.resumable;
    const { run, decided, words } = recorded;
    session.out.print(words);
    try {
      return await driveRun(devs, run, { spec, beside: { decided: view(decided) } }, session);
    } catch (error) {
      if (!isDevsError(error, 'THREAD_BUSY')) throw error;
      session.out.result(view(decided), [DECISION_RECORDED]);
      return EXIT.ok;
    }
  });
}

const seenBy = ({
  signed: { hash, withHidden },
}: DecideCommand): Pick<DecideFlags, 'hash' | 'withHidden'> => ({
  ...(hash !== undefined && { hash }),
  ...(withHidden !== undefined && { withHidden }),
});

interface DecisionOutcome {
  readonly run: Run;
  readonly decided: HitlSession;
  readonly words: string;
  readonly isEdit: boolean;
}

async function recordAnswer(
  { name, decide, signed }: DecideCommand,
  devs: Orchestrator,
  session: Session,
): Promise<DecisionOutcome | null> {
  const named = await resolveGate(devs, name);
  await maskAsRecorded(named.run);
  const decision = await decide(named);
  if (decision === null) {
    session.out.note('No decision was recorded; the gate stays open.');
    return null;
  }
  if (decision.choice === 'again') {
    const { tellUncommitted } = await goingOn();
    await tellUncommitted(parseSpec(await named.run.agentsRef())?.repository ?? null, session);
  }
  const decided = await recordDecision(named, decision, signed, session);
  return {
    run: named.run,
    decided,
    words: formatRecordedDecision(decision, decided),
    isEdit: decision.choice === 'edit',
  };
}

function formatNext(
  { decided, isEdit }: DecisionOutcome,
  status: Awaited<ReturnType<Run['status']>>,
  { devs }: Session,
): string {
  const vote = openVote(decided);
  if (vote !== null) return `recorded; the gate stays open until ${vote.needed - vote.votes} more approve`;
  if (status.driver !== null) return DECISION_RECORDED;
  const next = isEdit ? 'to reopen the gate with your version' : 'to resume';
  return `recorded; ${next}: ${resumeCommand(status, devs)}`;
}

function view(session: HitlSession) {
  const { id, threadId, kind, artifactHash, decision, principal, hidden, decidedAt } = session;
  const at = decidedAt === null ? null : new Date(decidedAt).toISOString();
  const vote = openVote(session);
  const said = { decision, principal, decidedAt: at, ...(hidden !== undefined && { hidden }) };
  const about = { sessionId: id, threadId, run: threadId, kind, artifactHash, ...said };
  return vote === null ? about : { ...about, votes: vote.votes, needed: vote.needed };
}
