import { isDeepStrictEqual } from 'node:util';
import type {
  Checkpoint,
  CheckpointPendingWrite,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { hashBytes } from '../../state/blobs/BlobStore.ts';
import { isRecord } from '../../values/isRecord.ts';
import { nextNodes } from '../breakpoints/Breakpoint.ts';
import { interruptId } from '../gates/question.ts';
import { VERSIONED_FORMAT } from '../saver/checkpointConfig.ts';
import { hasUnanswerable, isOutput, openQuestions } from '../saver/openQuestions.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import { namespaceIn, type StoredThread } from './StoredThread.ts';
import type { TransferRefusal } from './transferRefused.ts';

// A thread of any version of LangGraph, in the form that this one writes:
//
//   sends       are a channel, as savers read them before format 4.
//   interrupts  have the id of this version.
//   answers     without an id belong to their task; those of the past are gone.

const INTERRUPT = '__interrupt__';
const RESUME = '__resume__';

/** LangGraph's task of answers without an id. */
const NULL_TASK_ID = '00000000-0000-0000-0000-000000000000';

/** A reason to leave a thread where it is. */
export class NotNormal {
  readonly reason: TransferRefusal;
  readonly why: string;

  constructor(reason: TransferRefusal, why: string) {
    this.reason = reason;
    this.why = why;
  }
}

/** The thread in the form of this version of LangGraph. Pure. */
export function normalThread({ root, tuples }: StoredThread): StoredThread | NotNormal {
  const versions = tuples.flatMap(({ checkpoint }) => Object.values(checkpoint.channel_versions));
  if (!versions.every((version) => typeof version === 'number'))
    return new NotNormal('versions_unknown', 'the versions of its channels are not numbers');
  const newest = newestOfEach(tuples);
  const ids = newIds(newest);
  const named = tuples.map((tuple) => withIds(inThisFormat(tuple), ids));
  const taken = withoutGivenAnswers(named, new Set([...newest].map(({ checkpoint }) => checkpoint.id)));
  if (taken instanceof NotNormal) return taken;
  const at = taken.find(
    ({ checkpoint, config }) => checkpoint.id === root.checkpoint.id && config === root.config,
  );
  const standing = at ?? taken.find((tuple) => isSamePlace(tuple, root)) ?? root;
  return hasUnanswerable(standing)
    ? new NotNormal('interrupt_without_id', 'it waits at an interrupt without an id')
    : { root: standing, tuples: taken };
}

const isSamePlace = (one: CheckpointTuple, other: CheckpointTuple): boolean =>
  one.checkpoint.id === other.checkpoint.id && namespaceIn(one) === namespaceIn(other);

function newestOfEach(tuples: readonly CheckpointTuple[]): readonly CheckpointTuple[] {
  return [...new Map(tuples.map((tuple) => [namespaceIn(tuple), tuple])).values()];
}

function inThisFormat(tuple: CheckpointTuple): CheckpointTuple {
  const { checkpoint } = tuple;
  return checkpoint.v < VERSIONED_FORMAT
    ? { ...tuple, checkpoint: { ...checkpoint, v: VERSIONED_FORMAT } }
    : tuple;
}

/** New ids of interrupts by their old id, else by their namespace. */
function newIds(tuples: readonly CheckpointTuple[]): ReadonlyMap<string, string> {
  return new Map(
    tuples.flatMap((tuple) => (tuple.pendingWrites ?? []).flatMap((write) => idsIn(write, tuple))),
  );
}

function idsIn(
  [taskId, channel, interrupts]: CheckpointPendingWrite,
  tuple: CheckpointTuple,
): readonly (readonly [name: string, id: string])[] {
  if (channel !== INTERRUPT || !Array.isArray(interrupts)) return [];
  const answered = answersOf(taskId, tuple.pendingWrites ?? []).length;
  return interrupts.flatMap((asked: unknown) => {
    const namespace = namespacesOf(tuple, taskId).find((each) => isAskedIn(asked, each));
    const name = nameOf(asked);
    return namespace === undefined || name === null
      ? []
      : [[name, interruptId(namespace, answered)] as const];
  });
}

/** Where a task of this checkpoint may be, by the nodes that are due in it. */
function namespacesOf(tuple: CheckpointTuple, taskId: string): readonly string[] {
  const around = namespaceIn(tuple);
  return dueNodes(tuple.checkpoint).map((node) => `${around === '' ? '' : `${around}|`}${node}:${taskId}`);
}

const dueNodes = (checkpoint: Checkpoint): readonly string[] => [
  ...new Set([...nextNodes(checkpoint), ...Object.keys(checkpoint.versions_seen)]),
];

/** Whether this task itself asked. */
function isAskedIn(asked: unknown, namespace: string): boolean {
  if (!isRecord(asked)) return false;
  const known = idOf(asked);
  return known === undefined ? namespaceOfAsked(asked) === namespace : known === interruptId(namespace, 0);
}

const idOf = ({ id, interrupt_id: former }: Readonly<Record<string, unknown>>): unknown => id ?? former;

/** As versions of before 1.0 wrote it. */
const namespaceOfAsked = ({ ns }: Readonly<Record<string, unknown>>): string | null =>
  Array.isArray(ns) ? ns.join('|') : null;

function nameOf(asked: unknown): string | null {
  if (!isRecord(asked)) return null;
  const id = idOf(asked);
  return typeof id === 'string' ? id : namespaceOfAsked(asked);
}

function withIds(tuple: CheckpointTuple, ids: ReadonlyMap<string, string>): CheckpointTuple {
  const pendingWrites = (tuple.pendingWrites ?? []).map(
    ([taskId, channel, value]): CheckpointPendingWrite => {
      if (channel !== INTERRUPT || !Array.isArray(value)) return [taskId, channel, value];
      return [taskId, channel, value.map((asked: unknown) => withId(asked, ids))];
    },
  );
  return { ...tuple, pendingWrites };
}

function withId(asked: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (!isRecord(asked)) return asked;
  const name = nameOf(asked);
  const id = (name === null ? undefined : ids.get(name)) ?? idOf(asked);
  return id === undefined || id === asked['id'] ? asked : { ...asked, id };
}

const answersOf = (task: string, writes: readonly CheckpointPendingWrite[]): readonly unknown[] =>
  writes
    .filter(([taskId, channel]) => taskId === task && channel === RESUME)
    .flatMap(([, , answers]) => answers);

const isGivenAnswer = ([taskId, channel]: CheckpointPendingWrite): boolean =>
  taskId === NULL_TASK_ID && channel === RESUME;

/**
 * LangGraph leaves an answer without an id in the store after a task took it: the task's next question would take it again.
 *
 * @param newest - Ids of the checkpoints that the thread stands at.
 */
function withoutGivenAnswers(
  tuples: readonly CheckpointTuple[],
  newest: ReadonlySet<string>,
): readonly CheckpointTuple[] | NotNormal {
  const standing = tuples.filter(({ checkpoint }) => newest.has(checkpoint.id));
  const writes = standing.flatMap(({ pendingWrites = [] }) => pendingWrites);
  const taken = writes
    .filter(([taskId, channel]) => taskId !== NULL_TASK_ID && channel === RESUME)
    .flatMap(([, , answers]) => answers as unknown);
  const given = writes.filter(isGivenAnswer).map(([, , answer]) => answer);
  const pending = given.filter((answer) => !taken.some((each) => isDeepStrictEqual(each, answer)));
  const open = [...new Set(standing.flatMap(openQuestions).map(({ interruptId: id }) => id))];
  const [question, ...others] = open;
  const cleared = tuples.map((tuple) =>
    newest.has(tuple.checkpoint.id)
      ? { ...tuple, pendingWrites: (tuple.pendingWrites ?? []).filter((write) => !isGivenAnswer(write)) }
      : tuple,
  );
  if (pending.length === 0) return cleared;
  if (question === undefined || others.length > 0)
    return new NotNormal('answer_pending', 'an answer was given, and no node has taken it');
  return cleared.map((tuple) =>
    newest.has(tuple.checkpoint.id) ? answered(tuple, question, pending[0]) : tuple,
  );
}

/** Gives the answer to the task of the question. */
function answered(tuple: CheckpointTuple, question: string, answer: unknown): CheckpointTuple {
  const isAbout = (asked: unknown): boolean => isRecord(asked) && asked['id'] === question;
  const pendingWrites = (tuple.pendingWrites ?? []).flatMap((write): CheckpointPendingWrite[] => {
    const [taskId, channel, value] = write;
    if (channel !== INTERRUPT || !Array.isArray(value) || !value.some(isAbout)) return [write];
    const before = answersOf(taskId, tuple.pendingWrites ?? []);
    const isAsker = namespacesOf(tuple, taskId).some(
      (namespace) => interruptId(namespace, before.length) === question,
    );
    return isAsker ? [[taskId, RESUME, [...before, answer]]] : [];
  });
  return { ...tuple, pendingWrites };
}

/** Writes of a task, as `putWrites` takes them. */
export interface TaskWrites {
  readonly taskId: string;
  readonly taskPath: string;
  readonly values: PendingWrite[];
}

/** Pending writes by task, in their order. Outputs are apart from LangGraph's own writes, so that each keeps its index. */
export function taskWrites({ pendingWrites = [] }: CheckpointTuple): readonly TaskWrites[] {
  const tasks = [...new Set(pendingWrites.map(([taskId]) => taskId))];
  return tasks.flatMap((taskId, at) => {
    const own = pendingWrites.filter(([id]) => id === taskId);
    const groups = [
      own.filter(([, channel]) => !isOutput(channel)),
      own.filter(([, channel]) => isOutput(channel)),
    ];
    return groups
      .filter((group) => group.length > 0)
      .map((group) => ({
        taskId,
        taskPath: String(at).padStart(6, '0'), // a checkpointer sorts by it
        values: group.map(([, channel, value]): PendingWrite => [channel, value]),
      }));
  });
}

type Versions = Readonly<Record<string, number>>;

/** A checkpoint with its new channels. */
interface VersionedCheckpoint {
  readonly tuple: CheckpointTuple;
  readonly newVersions: Record<string, number>;
}

/** 2^16 values of one version stay below the next whole number. */
const FRACTION = 1 / 2 ** 16;

/**
 * Gives each value its own version. In LangGraph two branches of one checkpoint give two values the same version.
 *
 * @param tuples - Oldest first.
 */
export async function withDistinctVersions(
  tuples: readonly CheckpointTuple[],
  { serde }: Pick<SqliteSaver, 'serde'>,
): Promise<readonly VersionedCheckpoint[]> {
  const known = new Map<string, Map<string, number>>();
  const versioned: VersionedCheckpoint[] = [];
  for (const tuple of tuples) {
    const { checkpoint } = tuple;
    const moved: Record<string, number> = {};
    const newVersions: Record<string, number> = {};
    for (const [channel, version] of Object.entries(checkpoint.channel_versions as Versions)) {
      const place = JSON.stringify([namespaceIn(tuple), channel, version]);
      const values = known.get(place) ?? new Map<string, number>();
      known.set(place, values);
      const digest = await digestOf(checkpoint, channel, serde);
      const unique = values.get(digest) ?? version + values.size * FRACTION;
      if (!values.has(digest)) newVersions[channel] = unique;
      values.set(digest, unique);
      if (unique !== version) moved[channel] = unique;
    }
    versioned.push({ tuple: { ...tuple, checkpoint: withVersions(checkpoint, moved) }, newVersions });
  }
  return versioned;
}

async function digestOf(
  { channel_values: values }: Checkpoint,
  channel: string,
  serde: SqliteSaver['serde'],
): Promise<string> {
  if (!Object.hasOwn(values, channel)) return '';
  const [type, bytes] = await serde.dumpsTyped(values[channel]);
  return `${type} ${Buffer.from(hashBytes(bytes)).toString('hex')}`;
}

/** A node that has seen the old version has seen the new one. */
function withVersions(checkpoint: Checkpoint, moved: Versions): Checkpoint {
  if (Object.keys(moved).length === 0) return checkpoint;
  const before = checkpoint.channel_versions;
  const versions_seen = Object.fromEntries(
    Object.entries(checkpoint.versions_seen).map(([node, seen]) => [
      node,
      Object.fromEntries(
        Object.entries(seen).map(([channel, version]) => [
          channel,
          version === before[channel] ? (moved[channel] ?? version) : version,
        ]),
      ),
    ]),
  );
  return { ...checkpoint, channel_versions: { ...before, ...moved }, versions_seen };
}
