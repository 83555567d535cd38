// Spans are derived from the record of a run, which telemetry only reads.

import type { EventName, OrchestratorEvents } from '../../events/events.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { EventRecord } from '../../state/events/EventStore.ts';
import { spanIdOf, stepSpanId, traceIdOf } from '../../state/steps/spanIds.ts';
import { executionsIn, type NodeExecutionRecord } from './nodeExecutions.ts';
import { type ReadFile, type RecordedStep, type RunRecord, readRunRecord } from './RunRecord.ts';
import type { RunSpan, RunSpanEvent, SpanAttributes } from './RunSpan.ts';
import { type TurnRange, turnRanges } from './turnRanges.ts';

interface SpanOptions {
  /** Also words of people, messages of errors and results of steps. @defaultValue false */
  readonly content?: boolean;
}

/** What all spans of a run have in common. */
interface Run extends Omit<RunRecord, 'steps'> {
  readonly last: EventRecord;
  readonly ranges: readonly TurnRange[];
  readonly executions: readonly NodeExecutionRecord[];
  readonly steps: readonly PlacedStep[];
  readonly withContent: boolean;
}

interface PlacedStep {
  readonly step: RecordedStep;
  readonly range: TurnRange;
  /** `null` for a call beside the nodes, such as a question about a gate. */
  readonly execution: NodeExecutionRecord | null;
}

type GivenAttributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

const TEXT_CHARACTERS = 1000;
/** So much of a longer text is masked, and the rest left out. */
const MASKED_CHARACTERS = 65_536;
const DAY_MS = 86_400_000;

/** The spans of a run, children before their parents. Empty for a run without an event. */
export function runSpans(record: RunRecord, { content = false }: SpanOptions = {}): readonly RunSpan[] {
  const { log } = record;
  const last = log.at(-1);
  if (last === undefined) return [];
  const ranges = turnRanges(record);
  const executions = executionsIn(log, ranges);
  const steps = placedSteps(record, { ranges, executions, last });
  const run: Run = { ...record, last, ranges, executions, steps, withContent: content };
  return [
    ...steps.map((placed) => stepSpan(placed, run)),
    ...run.executions.map((execution) => nodeSpan(execution, run)),
    ...gateSpans(run),
    ...ranges.map((range) => turnSpan(range, run)),
    rootSpan(run),
  ];
}

/** The spans of a run as its file is now, or up to an event of its log. @throws DevsError `THREAD_NOT_FOUND` */
export const spansOf = (
  id: string,
  file: ReadFile,
  options: SpanOptions & { readonly upTo?: number } = {},
): readonly RunSpan[] => runSpans(readRunRecord(id, file, options), options);

const shown = (text: string): string =>
  maskSensitiveData(text.slice(0, MASKED_CHARACTERS)).slice(0, TEXT_CHARACTERS);

function masked(given: GivenAttributes): SpanAttributes {
  const entries = Object.entries(given).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    return [[name, typeof value === 'string' ? shown(value) : value] as const];
  });
  return Object.fromEntries(entries);
}

const isNamed =
  <Name extends EventName>(...names: readonly Name[]) =>
  (event: EventRecord): event is EventRecord<Name> =>
    (names as readonly EventName[]).includes(event.name);

const partOf = ({ id }: Pick<Run, 'id'>) => ({ traceId: traceIdOf(id), links: [], events: [], error: null });

const spanEvent = (name: string, { at }: Pick<EventRecord, 'at'>, given: GivenAttributes): RunSpanEvent => ({
  ...{ name, at, attributes: masked(given) },
});

/** The name of an error, if its message begins with it. */
const errorType = (message: string): string =>
  /^[A-Z]\w*(?:Error|Exception)\b/.exec(message)?.[0] ?? '_OTHER';

const rangeAt = (seq: number, { ranges }: Pick<Run, 'ranges'>): TurnRange =>
  (ranges.find(({ toSeq }) => seq <= toSeq) ?? ranges.at(-1)) as TurnRange;

const turnSpanId = ({ number }: TurnRange, { id }: Run): string => spanIdOf(id, 'turn', number);

const nodeSpanId = ({ visit }: NodeExecutionRecord, { id }: Run): string => spanIdOf(id, 'node', visit);

function nodeSpan(execution: NodeExecutionRecord, run: Run): RunSpan {
  const { node, start, end, attempt, failure, retries, isOpen } = execution;
  return {
    ...partOf(run),
    ...{ spanId: nodeSpanId(execution, run), parentId: turnSpanId(rangeAt(start.seq, run), run) },
    ...{ name: `node ${shown(node)}`, kind: 'internal', isOpen },
    ...{ startedAt: start.at, endedAt: Math.max(start.at, end.at), endSeq: end.seq },
    error: failure === null ? null : run.withContent ? shown(failure) : 'the node failed',
    attributes: masked({
      ...{ 'devs.run.id': run.id, 'devs.node': node, 'devs.attempt': attempt },
      'error.type': failure === null ? undefined : errorType(failure),
    }),
    events: retries.map(({ at, message, ...retry }) =>
      spanEvent(
        'devs.retry',
        { at },
        {
          ...{ 'devs.attempt': retry.attempt, 'error.type': errorType(message) },
          'exception.message': run.withContent ? message : undefined,
        },
      ),
    ),
  };
}

/** Steps with the execution of a node that each belongs to. Those of older runs are known by their node and times alone. */
function placedSteps(
  { steps }: RunRecord,
  { ranges, executions, last }: Pick<Run, 'ranges' | 'executions' | 'last'>,
): readonly PlacedStep[] {
  const byVisit = new Map(executions.map((execution) => [execution.visit, execution]));
  const unnamed = executions.filter(({ hasVisit }) => !hasVisit);
  return steps.flatMap((step) => {
    const at = step.finishedAt ?? step.startedAt;
    const execution =
      byVisit.get(step.lgTaskId.split('/', 1).join('')) ??
      unnamed.find(({ node, start, end }) => node === step.node && start.at <= at && at <= end.at);
    if (execution !== undefined) return { step, execution, range: rangeAt(execution.start.seq, { ranges }) };
    if (at > last.at) return []; // of a later part of the log
    const range = ranges.findLast(({ begunAt }) => begunAt <= step.startedAt) ?? ranges[0];
    return { step, execution: null, range: range as TurnRange };
  });
}

function stepSpan({ step, execution, range }: PlacedStep, run: Run): RunSpan {
  const { startedAt, finishedAt, state, attempt, usage, node, name, kind, result } = step;
  const { end, isOpen } = execution ?? range;
  const call = namedCall(step);
  return {
    ...partOf(run),
    ...{ spanId: stepSpanId(step), name: call.name, kind: kind === 'call' ? 'client' : 'internal', isOpen },
    parentId: execution === null ? turnSpanId(range, run) : nodeSpanId(execution, run),
    ...{ startedAt, endedAt: Math.max(startedAt, finishedAt ?? end.at), endSeq: end.seq },
    error: errorOfStep(state),
    attributes: masked({
      ...call.attributes,
      ...{ 'devs.run.id': run.id, 'devs.node': node, 'devs.step': name, 'devs.attempt': attempt },
      'devs.cost.usd': usage.costUsd,
      'devs.step.result': run.withContent ? result : undefined,
    }),
  };
}

function errorOfStep(state: RecordedStep['state']): string | null {
  if (state === 'done') return null;
  return state === 'failed' ? 'the call failed' : 'the call has no recorded end';
}

const isModel = ({ usage }: Pick<RecordedStep, 'usage'>): boolean =>
  usage.tokensIn !== undefined || usage.tokensOut !== undefined;

/** The forms of ids that models give their calls of tools. */
const CALL_ID = '(?:call|toolu|tooluse|chatcmpl-tool)[_-]\\S+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** A recorded call of a tool is a step named after the tool and the id of the call. */
const TOOL_STEP = new RegExp(`^(\\S+) (${CALL_ID})$`);

/** Name of the span of a step, and its attributes as a call of a model or a tool. */
function namedCall(step: RecordedStep): { readonly name: string; readonly attributes: GivenAttributes } {
  if (isModel(step))
    return { name: 'chat', attributes: { 'gen_ai.operation.name': 'chat', ...usageOf([step]) } };
  const [, tool, call] = (step.kind === 'call' && TOOL_STEP.exec(step.name)) || [];
  if (tool === undefined) return { name: `step ${shown(step.name)}`, attributes: {} };
  return {
    name: `execute_tool ${shown(tool)}`,
    attributes: {
      ...{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool },
      'gen_ai.tool.call.id': call,
    },
  };
}

function usageOf(steps: readonly RecordedStep[]): GivenAttributes {
  const sum = (tokens: (usage: RecordedStep['usage']) => number | undefined): number =>
    steps.reduce((total, { usage }) => total + (tokens(usage) ?? 0), 0);
  return {
    'gen_ai.usage.input_tokens': sum(({ tokensIn }) => tokensIn),
    'gen_ai.usage.output_tokens': sum(({ tokensOut }) => tokensOut),
  };
}

type GateNotice = EventRecord<
  'GATE_VOTED' | 'GATE_REMINDED' | 'GATE_REASSIGNED' | 'HITL_ANSWER_VOIDED' | 'HITL_ANSWER_REFUSED'
>;

const GATE_NOTICES: Readonly<Record<GateNotice['name'], string>> = {
  GATE_VOTED: 'devs.gate.voted',
  GATE_REMINDED: 'devs.gate.reminded',
  GATE_REASSIGNED: 'devs.gate.reassigned',
  HITL_ANSWER_VOIDED: 'devs.gate.answer_voided',
  HITL_ANSWER_REFUSED: 'devs.gate.answer_refused',
};

const isGateNotice = (event: EventRecord): event is GateNotice => Object.hasOwn(GATE_NOTICES, event.name);

/** A gate that is not decided ends with its turn. */
function gateSpans(run: Run): readonly RunSpan[] {
  const decisions = new Map(
    run.log.filter(isNamed('HITL_SESSION_DECIDED')).map((event) => [event.payload.sessionId, event]),
  );
  const notices = run.log.filter(isGateNotice);
  return run.log.filter(isNamed('HITL_SESSION_OPENED')).map((opened) => {
    const { sessionId } = opened.payload;
    const about = notices.filter(({ payload }) => payload.sessionId === sessionId);
    return gateSpan(opened, { decision: decisions.get(sessionId), notices: about }, run);
  });
}

interface GateStory {
  readonly decision: EventRecord<'HITL_SESSION_DECIDED'> | undefined;
  readonly notices: readonly GateNotice[];
}

function gateSpan(
  opened: EventRecord<'HITL_SESSION_OPENED'>,
  { decision, notices }: GateStory,
  run: Run,
): RunSpan {
  const { sessionId, kind } = opened.payload;
  const range = rangeAt(opened.seq, run);
  const end = decision ?? range.end;
  const isOpen = decision === undefined && range.isOpen;
  return {
    ...partOf(run),
    spanId: spanIdOf(run.id, 'gate', sessionId),
    parentId: askedIn(opened.seq, run) ?? turnSpanId(range, run),
    ...{ name: `gate ${shown(kind)}`, kind: 'internal', startedAt: opened.at, isOpen },
    ...{ endedAt: Math.max(opened.at, end.at), endSeq: end.seq },
    attributes: masked({
      ...{ 'devs.run.id': run.id, 'devs.gate.kind': kind, 'devs.gate.id': sessionId },
      'devs.gate.days': Math.max(0, end.at - opened.at) / DAY_MS,
      ...(decision === undefined
        ? { 'devs.gate.decision': isOpen ? undefined : 'withdrawn' }
        : decided(decision.payload, run)),
    }),
    events: notices.map((event) =>
      spanEvent(GATE_NOTICES[event.name], event, {
        'devs.principal': 'principal' in event.payload ? event.payload.principal : undefined,
      }),
    ),
  };
}

/** The execution of a node that asks, if only one is under way; `null` for a gate before a node. */
function askedIn(seq: number, run: Run): string | null {
  const around = run.executions.filter(({ start, isOpenAt }) => start.seq < seq && isOpenAt(seq));
  const [inside] = around;
  return inside !== undefined && around.length === 1 ? nodeSpanId(inside, run) : null;
}

const decided = (
  { said = 'decided', principal, via, words }: OrchestratorEvents['HITL_SESSION_DECIDED'],
  { withContent }: Run,
): GivenAttributes => ({
  ...{ 'devs.gate.decision': said, 'devs.gate.decider': principal, 'devs.gate.via': via },
  'devs.gate.words': withContent ? words : undefined,
});

const TURN_EVENTS = {
  RUN_RECOVERED: 'devs.run.recovered',
  RUN_SUSPENDED: 'devs.run.suspended',
  LEASE_LOST: 'devs.lease.lost',
  STOP_REQUESTED: 'devs.stop.requested',
  GUARD_TRIPPED: 'devs.guard.tripped',
} as const satisfies Partial<Record<EventName, string>>;

type TurnEvent = EventRecord<keyof typeof TURN_EVENTS>;

const isTurnEvent = (event: EventRecord): event is TurnEvent => Object.hasOwn(TURN_EVENTS, event.name);

function turnEvent(event: TurnEvent): RunSpanEvent {
  const { name, payload } = event;
  return spanEvent(TURN_EVENTS[name], event, {
    ...('epoch' in payload && { 'devs.lease.epoch': payload.epoch }),
    ...('gates' in payload && { 'devs.gates': payload.gates, 'devs.until': payload.until }),
    ...('stop' in payload && { 'devs.stop': payload.stop, 'devs.principal': payload.principal }),
    ...('guard' in payload && { 'devs.guard': payload.guard, 'devs.measure': payload.measure }),
  });
}

/** A turn in which a model was called is an invocation of an agent. */
function turnSpan(range: TurnRange, run: Run): RunSpan {
  const { number, key, begunAt, end, isOpen, outcome } = range;
  const own = run.steps.flatMap((placed) => (placed.range === range ? placed.step : []));
  const isAgent = own.some(isModel);
  const costs = own.flatMap(({ usage }) => usage.costUsd ?? []);
  const named = isAgent
    ? `invoke_agent${run.graph === null ? '' : ` ${shown(run.graph)}`}`
    : `turn ${number}`;
  return {
    ...partOf(run),
    ...{ spanId: turnSpanId(range, run), parentId: spanIdOf(run.id), name: named, kind: 'internal' },
    ...{ startedAt: begunAt, endedAt: Math.max(begunAt, end.at), endSeq: end.seq, isOpen },
    error: errorOfEnd(outcome),
    attributes: masked({
      ...(isAgent && {
        ...{ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': run.graph },
        ...usageOf(own),
      }),
      ...{ 'gen_ai.conversation.id': run.id, 'devs.run.id': run.id, 'devs.turn': key ?? String(number) },
      'devs.outcome': outcome,
      'devs.cost.usd': costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    }),
    events: run.log
      .filter(isTurnEvent)
      .flatMap((event) => (rangeAt(event.seq, run) === range ? turnEvent(event) : [])),
  };
}

const errorOfEnd = (outcome: string | null): string | null =>
  outcome === 'failed' || outcome === 'dead_letter' ? outcome : null;

function rootSpan(run: Run): RunSpan {
  const { id, graph, createdAt, related } = run;
  const { end, isOpen, outcome } = run.ranges.at(-1) as TurnRange;
  return {
    ...partOf(run),
    ...{ spanId: spanIdOf(id), parentId: null, kind: 'internal', isOpen, error: errorOfEnd(outcome) },
    name: `invoke_workflow${graph === null ? '' : ` ${shown(graph)}`}`,
    ...{ startedAt: createdAt, endedAt: Math.max(createdAt, end.at), endSeq: end.seq },
    attributes: masked({
      ...{ 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.name': graph },
      ...{ 'gen_ai.conversation.id': id, 'devs.run.id': id, 'devs.outcome': outcome },
    }),
    links: related.map((other) => ({ traceId: traceIdOf(other), spanId: spanIdOf(other) })),
  };
}
