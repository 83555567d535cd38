import path from 'node:path';
import { STATE_FILE } from '../../src/config/defaults.ts';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { NO_FENCE } from '../../src/state/commits/immediateTransaction.ts';
import { EventStore } from '../../src/state/events/EventStore.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { StepStore } from '../../src/state/steps/StepStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { canonicalJson, hashOf } from '../../src/values/canonicalJson.ts';

const SHOWN = {
  documents: [{ type: 'PRD', title: 'Design', content: 'What is to be built, and why. '.repeat(40) }],
};
const QUESTION = { message: 'Approve the design?', artifact: SHOWN };
const ADA = { kind: 'human', id: 'ada' } as const;
const EVENTS_PER_RUN = 20;

interface Filling {
  readonly threads: ThreadStore;
  readonly sessions: HitlSessionStore;
  readonly log: DecisionLog;
  readonly events: EventStore;
  readonly steps: StepStore;
}

/** Fills a state file by the classes of its tables, a thousand pieces per transaction. */
function fill(dir: string, pieces: number, piece: (n: number, into: Filling) => void): void {
  const db = createDatabase({ dbPath: path.join(dir, STATE_FILE), synchronous: 'normal' });
  const into = {
    threads: new ThreadStore(db),
    sessions: new HitlSessionStore(db),
    log: new DecisionLog(db),
    events: new EventStore(db),
    steps: new StepStore(db),
  };
  const some = db.transaction((from: number, to: number) => {
    for (let n = from; n < to; n += 1) piece(n, into);
  });
  for (let from = 0; from < pieces; from += 1000) some.immediate(from, Math.min(pieces, from + 1000));
  db.close();
}

function addRun(threadId: string, { threads }: Filling): void {
  const policies = { gates: { design: 'human', dag: 'human' }, title: threadId };
  const hashes = { briefSha256: hashOf(threadId), graphFingerprint: hashOf('pipeline') };
  threads.create({ threadId, projectId: threadId, workspace: null, policies, ...hashes });
}

function ask(threadId: string, place: string, { sessions }: Filling): string {
  return sessions.openForInterrupt({
    ...{ threadId, interruptId: place, questionKey: `design_approval/${place}`, checkpointId: place },
    ...{ kind: 'design_approval', taskId: threadId, artifactHash: hashOf(SHOWN), question: QUESTION },
  }).session.id;
}

function answer(id: string, { sessions, log, threads }: Filling): void {
  const decision = { approved: true, feedback: null };
  const given = { id, artifactHash: hashOf(SHOWN), decision, principal: ADA };
  const decided = sessions.decide(given, (said) => log.record(said));
  if (decided === null) throw new Error(`Session "${id}" was decided before.`);
  threads.signal(decided.threadId ?? '', {
    id: `decision:${id}`,
    kind: 'decision',
    payload: { sessionId: id },
  });
}

/** Runs of every file that wait, to be claimed and decided one after the other: {@link DUE}, a hyphen and a number. */
const DUE_RUNS = 250;
export const DUE = 'due';

/** The run that has worked long. */
export const LONG = 'long';

/** Of ten runs nine have ended, with an answered gate, and one waits at one. */
export function fillWithRuns(dir: string, runs: number): void {
  fill(dir, DUE_RUNS, (n, into) => {
    addRun(`${DUE}-${n}`, into);
    ask(`${DUE}-${n}`, 'g', into);
  });
  fill(dir, runs, (n, into) => {
    const id = `run-${n}`;
    addRun(id, into);
    for (let each = 0; each < EVENTS_PER_RUN; each += 1)
      into.events.append('NODE_STARTED', { node: 'design', attempt: 1 }, { threadId: id });
    const gate = ask(id, 'g', into);
    const claim = into.threads.claim(id);
    if (claim.kind === 'busy') throw new RangeError('Expected a run that nobody drives.');
    if (n % 10 > 0) answer(gate, into);
    const { wakeSeq } = into.threads.begin(claim.lease);
    into.threads.settle(claim.lease, n % 10 > 0 ? 'completed' : 'waiting', { seenWakeSeq: wakeSeq });
  });
}

/** One run that has worked long: so many events, and a hundredth as many calls and answered gates. */
export function fillWithOneRun(dir: string, events: number): void {
  fill(dir, events, (n, into) => {
    if (n === 0) addRun(LONG, into);
    into.events.append('NODE_STARTED', { node: 'implement', attempt: 1 }, { threadId: LONG });
    if (n % 100 > 0) return;
    answer(ask(LONG, `g-${n}`, into), into);
    const step = {
      threadId: LONG,
      lgTaskId: `v-${n}`,
      name: 'call',
      node: 'implement',
      taskId: `${LONG}:${(n / 100) % 50}`,
    };
    into.steps.intent({ ...step, kind: 'call' }, NO_FENCE);
    into.steps.finish(step, canonicalJson(step), { tokensIn: 1000, tokensOut: 100, costUsd: 0.01 }, NO_FENCE);
  });
}
