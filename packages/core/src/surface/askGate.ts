import { internalsOf } from '../engine/file/appInternals.ts';
import {
  abandonQuestions,
  exchangeKey,
  exchangesAt,
  type GateExchange,
  type RecordedExchange,
  shortenText,
} from '../engine/gates/answerForms.ts';
import { assertDecidable } from '../engine/gates/approvals.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { asHuman, type Principal, principalText } from '../engine/gates/principals.ts';
import { UsageReports } from '../engine/guards/usage.ts';
import { DevsError } from '../errors/DevsError.ts';
import { scrub } from '../masking/scrub.ts';
import { isBlank } from '../masking/visibleText.ts';
import type { OpenPipeline } from '../orchestration/graph.ts';
import { briefOf, draftsOf } from '../orchestration/nodes/documents.ts';
import { PIVOTS_EXHAUSTED } from '../orchestration/nodes/pivotNode.ts';
import type {
  AgentCall,
  AnsweringStage,
  AnswerRequest,
  AnswerResult,
  PipelinePorts,
  StageAgents,
  WorkspaceReader,
} from '../orchestration/ports.ts';
import { taskBrief } from '../orchestration/task/taskBrief.ts';
import type { HitlSession, HitlSessionKind } from '../state/gates/hitlSession.ts';
import { stepKeyOf } from '../state/steps/StepStore.ts';
import type { NewStep, Reserve, StepKey } from '../state/steps/stepRecords.ts';
import type { Lease } from '../state/threads/threadRecords.ts';
import { sessionOfRun } from './gatesOfRun.ts';

/** Characters of a question. */
const MAX_QUESTION = 8_000;

/** Characters of an answer that are kept. */
const MAX_ANSWER = 64_000;

/** Who asks. */
export interface AskOptions {
  readonly by: Principal;
  /** Aborting it ends the call. */
  readonly signal?: AbortSignal;
}

export interface AskedGate {
  readonly sessionId: string;
  readonly artifactHash: string;
}

type AnswerAgent = (request: AnswerRequest, call: AgentCall) => Promise<AnswerResult>;

const NEVER: AbortSignal = new AbortController().signal;

/** Asks the agent whose work a gate shows; see {@link Run.ask}. */
export async function askGate(
  threadId: string,
  gate: AskedGate,
  { text, by, signal = NEVER }: AskOptions & { readonly text: string },
  opened: OpenPipeline,
): Promise<GateExchange> {
  const principal = principalText(asHuman(by, threadId, 'ask about'));
  const { value: question, count: redacted } = scrub(questionFrom(text));
  const { store } = internalsOf(opened.app);
  const session = openSession(threadId, gate, opened);
  const { answer, pipeline } = answererOf(session, opened.pipeline);
  const key = exchangeKey(threadId, session.id, question);
  return internalsOf(opened.app).withLease(threadId, async (lease) => {
    openSession(threadId, gate, opened);
    abandonQuestions(threadId, store.steps);
    const recorded = recordedAt(key, opened);
    if (recorded !== null) return recorded;
    const request = await answerRequest(session, question, { app: opened.app, pipeline });
    const ask: GateAsk = { lease, key, session, principal, redacted };
    await askAndRecord(ask, request, { answer, signal }, opened);
    return recordedAt(key, opened) as GateExchange;
  });
}

interface GateAsk {
  readonly lease: Lease;
  readonly key: StepKey;
  readonly session: HitlSession;
  readonly principal: string;
  /** Places in the question where there was a secret. */
  readonly redacted: number;
}

/** Counted and recorded as begun before it is made; a process that dies in it leaves what may have been paid. */
async function askAndRecord(
  ask: GateAsk,
  request: AnswerRequest,
  { answer, signal }: { readonly answer: AnswerAgent; readonly signal: AbortSignal },
  { app }: Pick<OpenPipeline, 'app'>,
): Promise<void> {
  const { store } = internalsOf(app);
  const { lease, key, session, principal } = ask;
  const threadId = key.threadId;
  const fence = store.threads.fence(lease);
  const step: NewStep = { ...key, node: 'ask', taskId: request.task?.taskId ?? null };
  const reserve = store.commitUnder(lease, () =>
    admitAsk(step, ask, store.budgets.judge({ ...step, declared: {} }), (held) =>
      store.steps.intent({ ...step, reserve: held }, fence),
    ),
  );
  const reports = new UsageReports(reserve);
  const call = { idempotencyKey: stepKeyOf(key), signal, usage: reports.add.bind(reports) };
  try {
    const said = answerFrom(await answer(request, call));
    const { value: answered, count } = scrub(said);
    const value = { question: request.question, answer: answered, principal };
    store.commit((emit) => {
      store.steps.finish(key, value satisfies RecordedExchange, reports.total(store.prices), fence);
      const { id: sessionId, kind, taskId } = session;
      const scope = { threadId, taskId };
      emit('GATE_ASKED', { sessionId, kind, principal, question: shortenText(value.question) }, scope);
      const redacted = ask.redacted + count;
      if (redacted > 0)
        emit('SECRET_REDACTED', { place: `question at ${sessionId}`, count: redacted }, scope);
    });
  } catch (error) {
    if (store.steps.find(key)?.state === 'intent') store.steps.fail(key, reports.total(store.prices), fence);
    throw error;
  }
}

function admitAsk(
  step: NewStep,
  { session }: GateAsk,
  { passed, reserve }: ReturnType<EngineStore['budgets']['judge']>,
  begin: (reserve: Reserve) => void,
): Reserve {
  const [limit] = passed;
  if (limit === undefined) {
    begin(reserve);
    return reserve;
  }
  const { measure, spent } = limit;
  throw new DevsError(`An answer would exceed the budget: ${spent} of ${limit.limit} ${measure} are used.`, {
    code: 'BUDGET_SPENT',
    remedy: 'Decide the gate without an answer, or start a run with a larger budget.',
    context: { threadId: step.threadId, sessionId: session.id, measure },
  });
}

/** @throws DevsError `GATE_NOT_FOUND`, `GATE_ALREADY_DECIDED`, `GATE_NOT_READY`, `GATE_STALE` */
function openSession(
  threadId: string,
  { sessionId, artifactHash }: AskedGate,
  { app }: Pick<OpenPipeline, 'app'>,
): HitlSession {
  const session = sessionOfRun(threadId, sessionId, internalsOf(app).store.sessions);
  assertDecidable(session, artifactHash);
  return session;
}

/** Why nobody can be asked about a gate, in words; `null` where somebody can. */
export function whyUnasked(session: HitlSession, agents: StageAgents | null): string | null {
  if (agents === null) return 'the run has no agents';
  if (agents.answer === undefined) return `the agents "${agents.name}" do not answer questions`;
  return answeringStage(session) === null ? 'its content was not made by an agent' : null;
}

interface Answerer {
  readonly answer: AnswerAgent;
  readonly pipeline: PipelinePorts;
}

function answererOf(session: HitlSession, pipeline: PipelinePorts | null): Answerer {
  const why = whyUnasked(session, pipeline?.agents ?? null);
  const answer = pipeline?.agents.answer?.bind(pipeline.agents);
  if (pipeline !== null && answer !== undefined && why === null) return { answer, pipeline };
  throw new DevsError(`Questions about gate "${session.id}" are not possible: ${why}.`, {
    code: 'ASK_UNSUPPORTED',
    remedy: 'Decide the gate. You can put your question into the feedback.',
    context: { sessionId: session.id, kind: session.kind },
  });
}

function recordedAt(key: StepKey, { app }: Pick<OpenPipeline, 'app'>): GateExchange | null {
  const step = internalsOf(app).store.steps.find(key);
  if (step?.state !== 'done') return null;
  const answeredAt = new Date(step.finishedAt).toISOString();
  return { ...(step.result as RecordedExchange), answeredAt };
}

function questionFrom(text: unknown): string {
  if (typeof text !== 'string' || isBlank(text)) throw new TypeError('The question is empty.');
  if (text.length <= MAX_QUESTION) return text.trim();
  throw new RangeError(`A question has at most ${MAX_QUESTION} characters, got ${text.length}.`);
}

function answerFrom(result: AnswerResult | null | undefined): string {
  const { answer } = (result ?? {}) as Partial<AnswerResult>;
  if (typeof answer === 'string' && answer.trim() !== '') return answer.slice(0, MAX_ANSWER);
  throw new DevsError('The agent returned an empty answer.', {
    code: 'AGENT_INVALID_OUTPUT',
    remedy: 'Rephrase the question, or use a more capable agent for this stage.',
  });
}

/** Kinds that show an agent's work; the others show what the engine measured. */
const STAGES: Readonly<Partial<Record<HitlSessionKind, AnsweringStage>>> = {
  design_approval: 'design',
  dag_approval: 'distill',
  review: 'review',
  task_failure: 'implement',
};

/** Who answers for a gate; `null` where nobody can. */
function answeringStage({ kind, question }: HitlSession): AnsweringStage | null {
  const { artifact } = (question ?? {}) as { readonly artifact?: { readonly reason?: unknown } | null };
  if (kind === 'task_failure' && artifact?.reason === PIVOTS_EXHAUSTED) return 'pivot';
  return STAGES[kind] ?? null;
}

/** What the agent is told: what the person is shown, on the documents its work was made from. */
async function answerRequest(
  session: HitlSession,
  question: string,
  { app, pipeline }: OpenPipeline<PipelinePorts>,
): Promise<AnswerRequest> {
  const threadId = session.threadId ?? '';
  const state = await app.values(threadId);
  const { message = '', artifact = null } = (session.question ?? {}) as {
    readonly message?: string;
    readonly artifact?: unknown;
  };
  const task = state?.tasks.find(({ taskId }) => taskId === session.taskId);
  const workspace = await readerOf(threadId, pipeline);
  return {
    stage: answeringStage(session) ?? 'design',
    gate: { kind: session.kind, message, artifact },
    question,
    earlier: exchangesAt(threadId, session.id, internalsOf(app).store.steps).map((each) => ({
      question: each.question,
      answer: each.answer,
    })),
    brief: state === null ? '' : briefOf(state),
    documents: state === null ? [] : draftsOf(state),
    ...(task && { task: taskBrief(task) }),
    workspace,
  };
}

/** A run has its folder before its first gate is asked. */
async function readerOf(
  threadId: string,
  { workspace }: Pick<PipelinePorts, 'workspace'>,
): Promise<WorkspaceReader> {
  const opened = await workspace.open(threadId);
  return { dir: opened.dir, list: () => opened.list(), read: (path) => opened.read(path) };
}
