import { isDeepStrictEqual } from 'node:util';
import type { Op } from './Op.ts';
import type { Seen } from './ThreadClient.ts';

/** What both servers did with one request, and what was there before. */
export interface Pair {
  readonly op: Op;
  readonly before: { readonly isAsked: boolean };
  readonly own: Seen;
  readonly reference: Seen;
  /** The state of the thread afterwards. */
  readonly after: Seen;
  readonly afterThere: Seen;
}

/** A row of the table in `docs/reference/agent-server.md`: what differs on purpose. */
export interface Difference {
  /** As it stands in the first column of the table. */
  readonly row: string;
  /** Afterwards the threads are alike again. @defaultValue false */
  readonly isPassing?: boolean;
  fits(pair: Pair): boolean;
}

const refused = ({ status }: Seen): boolean => status >= 400 && status < 500;
const taken = ({ status }: Seen): boolean => status >= 200 && status < 300;
const isRun = ({ kind }: Op): boolean =>
  kind === 'wait' || kind === 'stream' || kind === 'background' || kind === 'fork';
/** What a command of the thread protocol was answered with. */
const replyOf = ({ body }: Seen): { readonly type?: unknown; readonly error?: unknown } =>
  typeof body === 'object' && body !== null ? body : {};
const isError = (seen: Seen): boolean => refused(seen) || replyOf(seen).type === 'error';
const asked = ({ body }: Seen): unknown =>
  typeof body === 'object' && body !== null ? Reflect.get(body, '__interrupt__') : undefined;

export const DIFFERENCES: readonly Difference[] = [
  {
    row: 'A message while a question waits',
    fits: ({ op, before, own, reference }) =>
      before.isAsked && isRun(op) && op.kind !== 'fork' && own.status === 422 && taken(reference),
  },
  {
    row: '`run.start` while a question waits',
    fits: ({ op, before, own, reference }) =>
      before.isAsked &&
      op.kind === 'start' &&
      replyOf(own).type === 'error' &&
      replyOf(reference).type === 'success',
  },
  {
    row: 'An answer to a question that is not open',
    fits: ({ op, own, reference }) => op.kind === 'resume' && refused(own) && taken(reference),
  },
  {
    row: '`input.respond` to a question that is not open',
    fits: ({ op, own, reference }) =>
      op.kind === 'respond' && replyOf(own).type === 'error' && replyOf(reference).type !== undefined,
  },
  {
    row: '`input.respond` to a question of the run API',
    fits: ({ op, before, own, reference }) =>
      op.kind === 'respond' &&
      before.isAsked &&
      replyOf(own).type === 'success' &&
      replyOf(reference).error === 'no_such_run',
  },
  {
    row: 'A run from an earlier checkpoint',
    fits: ({ op, own }) => op.kind === 'fork' && (taken(own) || refused(own)),
  },
  {
    row: 'New values while a question waits',
    fits: ({ op, before, own, reference }) =>
      op.kind === 'update' && before.isAsked && taken(reference) && (taken(own) || op.asNode !== null),
  },
  {
    row: 'New values of a channel that the graph does not have',
    fits: ({ op, own, reference }) =>
      op.kind === 'update' && op.values === 'unknown' && refused(own) && taken(reference),
  },
  {
    row: 'Questions of earlier checkpoints in the history',
    fits: ({ op, own, reference }) =>
      op.kind === 'history' &&
      isDeepStrictEqual(list(own.body).map(withoutQuestions), list(reference.body).map(withoutQuestions)),
  },
  {
    row: 'Values of a thread in `PATCH` and `/threads/search` after `run.start`',
    fits: ({ op, own, reference }) =>
      (op.kind === 'patch' || op.kind === 'search') &&
      threadsIn(own).length === threadsIn(reference).length &&
      threadsIn(own).every((thread, at) => isOrLacksValues(threadsIn(reference)[at], thread)),
  },
  {
    row: '`wait` and `join` at a question',
    isPassing: true,
    fits: ({ op, own, reference }) =>
      taken(own) &&
      taken(reference) &&
      (op.kind === 'join' || isDeepStrictEqual(asked(own), asked(reference))) &&
      asked(own) !== undefined,
  },
  {
    row: 'Status of a thread at a question of `run.start`',
    isPassing: true,
    fits: ({ op, before, own, reference }) =>
      (op.kind === 'patch' || op.kind === 'search') &&
      before.isAsked &&
      JSON.stringify(own).includes('"interrupted"') &&
      JSON.stringify(reference).includes('"idle"'),
  },
  {
    row: 'Status of a run at a question',
    isPassing: true,
    fits: ({ op, own, reference }) =>
      op.kind === 'runs' &&
      isDeepStrictEqual(
        list(own.body).map((status) => (status === 'interrupted' ? 'success' : status)),
        list(reference.body).map((status) => (status === 'interrupted' ? 'success' : status)),
      ),
  },
  {
    row: 'A run after an answer',
    isPassing: true,
    fits: ({ op, own, reference }) =>
      op.kind === 'runs' && taken(own) && list(own.body).length < list(reference.body).length,
  },
  {
    row: 'A cancel while a question waits',
    fits: ({ op, before, own, reference }) =>
      op.kind === 'cancel' && before.isAsked && taken(own) && taken(reference),
  },
  {
    row: 'A run that is not there',
    isPassing: true,
    fits: ({ op, own }) => (op.kind === 'join' || op.kind === 'cancel') && refused(own),
  },
  {
    row: 'Which 4xx a refusal is',
    isPassing: true,
    fits: ({ own, reference }) => isError(own) && isError(reference),
  },
];

/** Of one thread, or of a list. */
const threadsIn = ({ body }: Seen): readonly unknown[] => (Array.isArray(body) ? body : [body]);

const isOrLacksValues = (found: unknown, thread: unknown): boolean =>
  isDeepStrictEqual(found, thread) || isDeepStrictEqual(found, { ...Object(thread), values: null });

const withoutQuestions = (state: unknown): object => ({ ...Object(state), interrupts: [] });

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
