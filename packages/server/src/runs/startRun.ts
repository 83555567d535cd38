import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDevsError } from '@devs/core';
import type { Access, OwnerFields } from '../access/Access.ts';
import type { Assistants, Located } from '../apps/Assistants.ts';
import type { Assistant, ServedApp } from '../apps/ServedApp.ts';
import { ApiError, invalid, notFound, notOffered } from '../http/ApiError.ts';
import { checkpointView, latestCheckpointId } from '../threads/stateView.ts';
import { assertId } from '../threads/threadId.ts';
import type { RunBody } from './RunBody.ts';
import { decideAll, type Response, responsesOf } from './resumeRun.ts';
import { begunTurns, type Turn, turnId } from './standing.ts';

/** A run that was recorded, for a worker to execute. */
export interface StartedRun {
  readonly assistant: Assistant;
  readonly thread: string;
  readonly run: string;
  /** The `seq` after which it begins. @defaultValue the beginning of the run */
  readonly after?: number;
  /** The thread is of this run alone, and its client does not know it. */
  readonly isStateless: boolean;
}

/** The sender of a request for a run, and the thread. */
export interface Asked {
  readonly access: Access;
  readonly assistants: Assistants;
  /** `null` for a run without a thread. */
  readonly thread: string | null;
  /** The id that the client gives to the run. */
  readonly key?: string | undefined;
  /** Forks also where the thread stands at that checkpoint. */
  readonly forks?: boolean;
}

/**
 * Records a run: a new input of a thread, answers to its questions, or that it goes on. A message cannot answer a question.
 *
 * @throws ApiError, DevsError, before it records anything.
 */
export async function startRun(body: RunBody, asked: Asked): Promise<StartedRun> {
  assertOffered(body);
  const { assistants, thread, access } = asked;
  const assistant = assistants.named(body.assistant_id);
  assertWebhook(body, assistant);
  const given = body.run_id ?? asked.key;
  const run = given ?? randomUUID();
  assertId(run, 'run_id');
  if (thread !== null) assertId(thread, 'thread_id');
  const id = thread ?? run;
  const isNamed = thread !== null || given !== undefined;
  const located = isNamed ? await assistants.locate(id) : null;
  const known = { access, assistant, thread: id, run, isStateless: thread === null };
  if (located !== null) return startIn(body, located, { ...known, forks: asked.forks === true });
  if (thread !== null && body.if_not_exists !== 'create') throw notFound(`Thread "${id}"`);
  const isNew = await startNew(body, known, isNamed);
  return isNew ? startedRun(known) : startRun({ ...body, run_id: run }, asked); // it has appeared meanwhile
}

/** In a thread that is there. */
async function startIn(
  body: RunBody,
  located: Located,
  run: Recorded & { readonly forks: boolean },
): Promise<StartedRun> {
  const { access, assistant } = run;
  if (run.isStateless && !(await access.may('threads:create_run', located.run)))
    throw new ApiError(409, 'THREAD_EXISTS', 'The id of the run is taken.');
  await access.demandRun('threads:create_run', located.run);
  assertSameAssistant(located, assistant);
  if (await isOfOther(located, assistant)) return startElsewhere(body, located, run);
  return isGiven(body.command) ? resume(body, run) : continueThread(body, located, run);
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** The checkpoint that a client stands at. */
const checkpointOf = ({ checkpoint, checkpoint_id: id }: RunBody): string | undefined =>
  checkpoint?.checkpoint_id ?? id ?? undefined;

/** A run that is about to be recorded. */
interface Recorded extends StartedRun {
  readonly access: Access;
}

const startedRun = ({ assistant, thread, run, after, isStateless }: Recorded): StartedRun => ({
  ...{ assistant, thread, run, isStateless },
  ...(after !== undefined && { after }),
});

/** @param isNamed - The client gave the id: somebody else may take it at the same time. Returns false then. */
async function startNew(body: RunBody, run: Recorded, isNamed: boolean): Promise<boolean> {
  const { access, assistant, thread } = run;
  if (isGiven(body.command)) throw new ApiError(409, 'GATE_STALE', 'A new thread has no question to answer.');
  if (!isGiven(body.input)) throw invalid('A new thread needs an input.');
  const on = { assistant: assistant.name };
  const created = await access.demand('threads:create', on);
  const fields = { ...created, ...(await access.demand('threads:create_run', on)) };
  const owner = access.owning(fields);
  try {
    if (isNamed) await assistant.app.create(thread, { owner });
  } catch (error) {
    if (isDevsError(error, 'THREAD_EXISTS')) return false;
    throw error;
  }
  await record(body, run, { fields });
  return true;
}

/**
 * Whether a thread is in the place of another app, because its creator did not name one, and waits for its first input. Where
 * each run has its own file, it stays there.
 */
async function isOfOther({ assistant, run }: Located, asked: Assistant): Promise<boolean> {
  const isElsewhere = assistant.name !== asked.name && assistant.app.file !== asked.app.file;
  return (
    (isElsewhere || asked.app.runs !== null) &&
    assistant.name !== asked.name &&
    (await assistant.app.turns(run.id)).length === 0
  );
}

/** An empty thread becomes one of another app. */
async function startElsewhere(
  body: RunBody,
  { assistant, run: old }: Located,
  run: Recorded,
): Promise<StartedRun> {
  const by = run.access.principal;
  await assistant.app.cancel(old.id, { by });
  // Of a cluster: a worker has it in hand, until it has carried out the cancel.
  await unlessBusy(async () => void (await assistant.app.delete(old.id, { by, waitMs: 0 })), MOST_CANCEL_MS);
  await record({ ...body, metadata: { ...old.metadata, ...body.metadata } }, run, {
    fields: old.owner ?? {},
  });
  return startedRun(run);
}

async function continueThread(
  body: RunBody,
  located: Located,
  { forks, ...run }: Recorded & { readonly forks: boolean },
): Promise<StartedRun> {
  const { assistant, thread } = run;
  const { app } = assistant;
  const checkpointId = checkpointOf(body);
  if (checkpointId !== undefined && (forks || checkpointId !== (await latestCheckpointId(app, thread))))
    return fork(body, checkpointId, run);
  if (!isGiven(body.input)) {
    const turn = await lastTurn(run);
    const asks = await app.gates(thread);
    await app.start(thread);
    // A run that waits sends its questions again.
    return { ...startedRun(run), run: turnId(thread, turn), after: Math.max(0, turn.lastSeq - asks.length) };
  }
  if (located.run.metadata['graph_id'] === undefined && (await app.turns(thread)).length > 0)
    await app.updateMetadata(thread, { graph_id: assistant.name, assistant_id: assistant.name });
  await record(body, run, { fields: {}, known: located.run.metadata });
  return startedRun(run);
}

/** Another thread that begins at a checkpoint of this one, which stays as it is. */
async function fork(body: RunBody, checkpointId: string, run: Recorded): Promise<StartedRun> {
  const { access, assistant, thread } = run;
  const as = randomUUID();
  const fields = await access.demand('threads:create', { assistant: assistant.name });
  const forked = { ...run, thread: as };
  const by = access.principal;
  if (!isGiven(body.input)) {
    await assistant.app.fork(thread, { as, checkpointId, by });
    return { ...startedRun(forked), run: turnId(as, await lastTurn(forked)) };
  }
  const from = await beforeInput(assistant.app, thread, checkpointId);
  if (from !== null) {
    await assistant.app.fork(thread, { as, checkpointId: from, by });
    // The input takes the place of the work that the fork would go on with.
    await assistant.app.cancel(as, { by });
  }
  await record({ ...body, multitask_strategy: 'enqueue' }, forked, { fields });
  return startedRun(forked);
}

/**
 * Where a new input begins instead of the one that a checkpoint is about to take in. A client that edits a message names that
 * checkpoint. `null` for the first input of a thread.
 */
async function beforeInput(app: ServedApp, thread: string, checkpointId: string): Promise<string | null> {
  const { next, parentConfig } = await app.getState(thread, { checkpointId });
  if (!next.includes('__start__')) return checkpointId;
  return checkpointView(parentConfig)?.checkpoint_id ?? null;
}

interface RecordedAs {
  /** Of a new thread. */
  readonly fields: OwnerFields;
  /** Metadata that the thread has, and keeps. */
  readonly known?: Readonly<Record<string, unknown>>;
}

async function record(body: RunBody, run: Recorded, { fields, known = {} }: RecordedAs): Promise<void> {
  const { assistant, thread, access } = run;
  const { name, app } = assistant;
  const { multitask_strategy: strategy, metadata, context, config } = body;
  const named = Object.entries({ ...metadata, graph_id: name, assistant_id: name });
  const options = {
    turn: run.run,
    by: access.principal,
    owner: access.owning(fields),
    metadata: Object.fromEntries(named.filter(([key]) => !Object.hasOwn(known, key))),
    ...(isGiven(context) && { context: context as object }),
    ...configurableOf(config),
    ...(config?.tags && { tags: config.tags }),
    ...(body.webhook && { webhook: body.webhook }),
    ...(strategy && strategy !== 'rollback' && { multitaskStrategy: strategy }),
  };
  await unlessBusy(() => app.start(thread, body.input, options));
}

/** How long another server may hold a thread that it has just recorded, ms. */
const MOST_BUSY_MS = 2_000;
/** How long a worker of a busy machine may take to carry out a cancel, ms. */
const MOST_CANCEL_MS = 10_000;
const RETRY_MS = 25;

/** @throws DevsError `THREAD_BUSY` if the thread stays in use. */
async function unlessBusy(work: () => Promise<void>, most = MOST_BUSY_MS): Promise<void> {
  for (const until = performance.now() + most; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!isDevsError(error, 'THREAD_BUSY') || performance.now() > until) throw error;
    }
    await sleep(RETRY_MS);
  }
}

/** Names that the engine gives itself, and those that LangGraph's server adds. */
const RESERVED = /^(?:thread_id|thread_ts|run_id|graph_id|assistant_id|checkpoint_|__|lease_|recursion_base)/;

export function configurableOf(config: RunBody['config']): {
  readonly configurable?: Readonly<Record<string, unknown>>;
} {
  const own = Object.entries(config?.configurable ?? {}).filter(([name]) => !RESERVED.test(name));
  return own.length === 0 ? {} : { configurable: Object.fromEntries(own) };
}

async function resume(body: RunBody, run: Recorded): Promise<StartedRun> {
  const { thread } = run;
  const { app } = run.assistant;
  const { resume: value, goto, update } = body.command ?? {};
  if (goto !== undefined || update !== undefined)
    throw invalid(
      'A command can resume only: `goto` and `update` would pass a question. Use the state of the thread.',
    );
  if (value === undefined) throw invalid('The command must have `resume`.');
  const checkpointId = checkpointOf(body);
  if (checkpointId !== undefined && checkpointId !== (await latestCheckpointId(app, thread)))
    throw new ApiError(
      409,
      'GATE_STALE',
      'The answer is for an earlier state of the thread. Nothing was recorded.',
    );
  return answer(responsesOf(value, await app.gates(thread)), run);
}

/** Records answers of a thread; its run goes on. */
export async function answer(responses: readonly Response[], run: Recorded): Promise<StartedRun> {
  const { access, thread, assistant } = run;
  const found = await assistant.app.get(thread);
  if (found !== null) await access.demandRun('threads:decide', found);
  const turn = await lastTurn(run);
  await decideAll(assistant.app, thread, { responses, by: access.principal });
  return { ...startedRun(run), run: turnId(thread, turn), after: turn.lastSeq };
}

/** The turn that a thread stands in. @throws ApiError for a thread without an input. */
async function lastTurn({ assistant, thread }: Recorded): Promise<Turn> {
  const turn = begunTurns(await assistant.app.turns(thread)).at(-1);
  if (turn === undefined) throw invalid('The thread has no input yet.');
  return turn;
}

function assertSameAssistant({ assistant, run }: Located, asked: Assistant): void {
  if (assistant.name === asked.name || run.metadata['graph_id'] === undefined) return;
  throw new ApiError(422, 'OTHER_ASSISTANT', `The thread belongs to assistant "${assistant.name}".`);
}

/** A client can name a webhook of the program, not an address. @throws ApiError, before anything is recorded. */
export function assertWebhook({ webhook, input }: RunBody, { name, app }: Assistant): void {
  if (!webhook) return;
  if (!isGiven(input)) throw invalid('A run is given its webhook with its input.');
  if (app.webhooks.includes(webhook)) return;
  const known = app.webhooks.length === 0 ? 'It has none.' : `It has: ${app.webhooks.join(', ')}.`;
  throw invalid(
    `The webhook must be the name of one that assistant "${name}" was configured with, not an address. ${known}`,
  );
}

/** @throws ApiError for an option of LangGraph's server that this one lacks, before it records anything. */
export function assertOffered(body: RunBody): void {
  if (body.multitask_strategy === 'rollback')
    throw notOffered('A rollback would undo recorded work. Use "interrupt".');
  if (body.after_seconds) throw notOffered('A delayed run is not offered. Use `sleep` in the graph.');
  if (body.interrupt_before?.length || body.interrupt_after?.length)
    throw notOffered('Breakpoints are not an option of a run. Compile the graph with them.');
}
