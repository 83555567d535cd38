import { isDevsError } from '@devs/core';
import { z } from 'zod';
import type { Access } from '../access/Access.ts';
import type { Assistants, Located } from '../apps/Assistants.ts';
import { errorView, invalid, notFound, notOffered } from '../http/ApiError.ts';
import { parseShape } from '../http/readBody.ts';
import type { RunBody } from '../runs/RunBody.ts';
import { answer, startRun } from '../runs/startRun.ts';
import { checkpointView } from '../threads/stateView.ts';

export const commandBody = z.looseObject({
  id: z.number().int().min(0),
  method: z.string().max(100),
  params: z.looseObject({}).nullish(),
});

type Command = z.infer<typeof commandBody>;

/** The sender of a command, and the thread. */
export interface Commanded {
  readonly access: Access;
  readonly assistants: Assistants;
  readonly thread: string;
}

interface Done {
  readonly result: object;
  /** The newest event before those of the command. */
  readonly through?: number;
}

const COMMANDS: Readonly<Record<string, (params: unknown, to: Commanded) => Promise<Done>>> = {
  'run.start': startTurn,
  'input.respond': respond,
  'agent.getTree': getTree,
  'state.get': getState,
  'state.listCheckpoints': listCheckpoints,
  'state.fork': forkState,
  'input.inject': async () => {
    throw notOffered('Nothing is put into a run. Start the next one with `multitaskStrategy: "enqueue"`.');
  },
};

/** Executes a command. Its refusal is an answer, not a failure of the request. */
export async function runCommand({ id, method, params }: Command, to: Commanded): Promise<object> {
  const command = Object.hasOwn(COMMANDS, method) ? COMMANDS[method] : undefined;
  if (command === undefined)
    return { type: 'error', id, error: 'unknown_command', message: 'The command is not known.' };
  try {
    const { result, through } = await command(params ?? {}, to);
    const meta = { thread_id: to.thread, ...(through !== undefined && { applied_through_seq: through }) };
    return { type: 'success', id, result, meta };
  } catch (error) {
    const { body } = errorView(error);
    return { type: 'error', id, error: protocolCode(error), message: body.message, code: body.code };
  }
}

const STALE = ['GATE_STALE', 'GATE_NOT_FOUND', 'GATE_ALREADY_DECIDED', 'GATE_NOT_READY'] as const;

/** One of the ten of the protocol. */
function protocolCode(error: unknown): string {
  const { status, body } = errorView(error);
  if (STALE.some((code) => code === body.code)) return 'no_such_interrupt';
  if (isDevsError(error, 'CHECKPOINT_NOT_FOUND')) return 'no_such_checkpoint';
  if (status === 401 || status === 403) return 'permission_denied';
  if (status === 404) return 'no_such_run';
  if (status === 501) return 'not_supported';
  return status === 422 || status === 409 || status === 413 ? 'invalid_argument' : 'unknown_error';
}

const object = z.record(z.string(), z.unknown());
const strategy = z.enum(['reject', 'rollback', 'interrupt', 'enqueue']).nullish();
const startParams = z.looseObject({
  assistant_id: z.string().min(1).max(200),
  input: z.unknown().optional(),
  config: object.nullish(),
  metadata: object.nullish(),
  multitaskStrategy: strategy,
  multitask_strategy: strategy,
});

async function startTurn(params: unknown, to: Commanded): Promise<Done> {
  const { assistant_id, input, config, metadata, ...given } = parseShape(startParams, params);
  const { access, assistants, thread } = to;
  const { checkpoint_id: checkpointId } = (config?.['configurable'] ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const body = {
    ...{ assistant_id, input, config, metadata, if_not_exists: 'create' as const },
    multitask_strategy: await strategyOf(given.multitaskStrategy ?? given.multitask_strategy, to),
    ...(typeof checkpointId === 'string' && { checkpoint_id: checkpointId }),
  };
  const run = await startRun(body, { access, assistants, thread });
  const turns = await run.assistant.app.turns(run.thread);
  const own = turns.find(({ turn }) => turn === run.run);
  const through =
    run.after ?? (own?.afterSeq ? own.afterSeq - 1 : Math.max(0, ...turns.map(({ lastSeq }) => lastSeq)));
  const other = run.thread === thread ? {} : { thread_id: run.thread };
  return { result: { run_id: run.run, ...other }, through: Math.max(0, through) };
}

/**
 * A message waits for its turn, as in LangGraph. At a question it is refused. Clients send `interrupt` by themselves while they take
 * the run for running. It would withdraw a question that a person has just seen.
 */
async function strategyOf(
  given: RunBody['multitask_strategy'],
  { assistants, thread }: Commanded,
): Promise<RunBody['multitask_strategy']> {
  if (given === 'enqueue' || given === 'rollback') return given;
  const located = await assistants.locate(thread);
  const gates = located === null ? [] : await located.assistant.app.gates(thread);
  return gates.length > 0 ? 'reject' : (given ?? 'enqueue');
}

const oneResponse = z.looseObject({ interrupt_id: z.string(), response: z.unknown() });
const respondParams = z.looseObject({
  interrupt_id: z.string().optional(),
  response: z.unknown().optional(),
  responses: z.array(oneResponse).min(1).max(100).optional(),
  goto: z.unknown().optional(),
  update: z.unknown().optional(),
});

async function respond(params: unknown, to: Commanded): Promise<Done> {
  const { interrupt_id: id, response, responses, goto, update } = parseShape(respondParams, params);
  if (goto !== undefined || update !== undefined)
    throw invalid('An answer cannot have `goto` or `update`: they would pass the question.');
  const given = responses ?? (id === undefined ? [] : [{ interrupt_id: id, response }]);
  if (given.length === 0) throw invalid('input.respond needs an interrupt_id.');
  const { assistant } = await requireThread(to);
  const answers = given.map((each) => ({ interrupt: each.interrupt_id, value: each.response }));
  const { access, thread } = to;
  const { after = 0 } = await answer(answers, { access, assistant, thread, run: thread, isStateless: false });
  return { result: {}, through: after };
}

async function requireThread({ access, assistants, thread }: Commanded): Promise<Located> {
  const located = await assistants.locate(thread);
  if (located === null) throw notFound(`Thread "${thread}"`);
  await access.demandRun('threads:read', located.run);
  return located;
}

async function getTree(_params: unknown, to: Commanded): Promise<Done> {
  const { assistant, run } = await requireThread(to);
  const isOver = run.endedAt !== null;
  const status =
    run.status === 'failed'
      ? 'failed'
      : isOver
        ? 'completed'
        : run.status === 'waiting'
          ? 'interrupted'
          : 'running';
  const { tasks } = await assistant.app.getState(run.id, { subgraphs: true });
  const children = tasks.flatMap(({ name, id, state }) =>
    state === undefined ? [] : [{ namespace: [`${name}:${id}`], status, graph_name: name }],
  );
  const tree = {
    namespace: [],
    status,
    graph_name: assistant.name,
    ...(children.length > 0 && { children }),
  };
  return { result: { tree } };
}

const getParams = z.looseObject({ keys: z.array(z.string()).nullish() });

async function getState(params: unknown, to: Commanded): Promise<Done> {
  const { keys } = parseShape(getParams, params);
  const { assistant, run } = await requireThread(to);
  const { values, config } = await assistant.app.getState(run.id);
  const asked = Object.entries((values ?? {}) as object).filter(([name]) => !keys || keys.includes(name));
  const at = checkpointView(config);
  const checkpoint = at === null ? {} : { checkpoint: { id: at.checkpoint_id, ns: at.checkpoint_ns } };
  return { result: { values: Object.fromEntries(asked), ...checkpoint } };
}

const listParams = z.looseObject({
  limit: z.number().int().min(1).max(1000).nullish(),
  before: z.string().nullish(),
});

async function listCheckpoints(params: unknown, to: Commanded): Promise<Done> {
  const { limit, before } = parseShape(listParams, params);
  const { assistant, run } = await requireThread(to);
  const history = await assistant.app.getStateHistory(run.id, {
    limit: limit ?? 10,
    ...(before && { before: { configurable: { thread_id: run.id, checkpoint_id: before } } }),
  });
  const checkpoints = history.flatMap(({ config, metadata, createdAt }) => {
    const at = checkpointView(config);
    return at === null
      ? []
      : [{ id: at.checkpoint_id, timestamp: createdAt, step: metadata?.step ?? -1, metadata }];
  });
  return { result: { checkpoints } };
}

const forkParams = z.looseObject({
  checkpoint_id: z.string().min(1),
  input: z.unknown().optional(),
  config: object.nullish(),
});

async function forkState(params: unknown, to: Commanded): Promise<Done> {
  const { checkpoint_id, input, config } = parseShape(forkParams, params);
  const { access, assistants, thread } = to;
  const { assistant } = await requireThread(to);
  const body = { assistant_id: assistant.name, checkpoint_id, input, config };
  const run = await startRun(body, { access, assistants, thread, forks: true });
  return { result: { run_id: run.run, thread_id: run.thread } };
}
