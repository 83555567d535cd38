import { asAsked } from '../engine/activity/ActivityMasker.ts';
import type { TranscriptLine } from '../engine/activity/StepActivities.ts';
import type { Activity } from '../events/Activity.ts';
import { taskLabel } from '../orchestration/taskStates.ts';
import type { StoredPiece, TranscriptStore } from '../state/steps/TranscriptStore.ts';

/** What is read of a run's transcripts. */
export interface TranscriptQuery {
  /** Such as `T4.implement`, or `design` outside of a task. @defaultValue all of them */
  readonly stage?: string;
  /** Of the stage, from 1, those that were pruned not counted. @defaultValue the newest */
  readonly attempt?: number;
  /** Only what was written after this position. */
  readonly afterSeq?: number;
  /** Ends with the piece that makes it so many entries: what was written together is told together. @defaultValue all */
  readonly limit?: number;
}

/** One thing that was told. */
export interface TranscriptEntry {
  /** Of the piece it was written with: goes on from here as `afterSeq`. */
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly stage: string;
  /** Of the stage, from 1, those that were pruned not counted. */
  readonly attempt: number;
  readonly node: string;
  /** Masked; `skipped` where a part of a long transcript is not kept. */
  readonly activity: Activity | { readonly kind: 'skipped'; readonly characters: number };
}

interface StageAttempt {
  readonly stage: string;
  readonly attempt: number;
}

/** The attempts at each stage of a run, in the order in which they were begun. */
class Attempts {
  readonly #numbers = new Map<string, StageAttempt>();
  /** How many there are, by stage. */
  readonly counts = new Map<string, number>();

  constructor(pieces: Iterable<StoredPiece>) {
    for (const piece of pieces) this.#note(piece);
  }

  of(piece: StoredPiece): StageAttempt {
    return this.#numbers.get(transcriptKey(piece)) ?? this.#note(piece);
  }

  #note(piece: StoredPiece): StageAttempt {
    const known = this.#numbers.get(transcriptKey(piece));
    if (known !== undefined) return known;
    const stage = stageOfPiece(piece);
    const attempt = (this.counts.get(stage) ?? 0) + 1;
    this.counts.set(stage, attempt);
    this.#numbers.set(transcriptKey(piece), { stage, attempt });
    return { stage, attempt };
  }
}

/**
 * What the stages of a run told, oldest first.
 *
 * @throws RangeError for a limit below 1, and for a stage or an attempt there is none of, naming those there are.
 */
export function transcript(
  threadId: string,
  { stage, attempt, afterSeq = 0, limit = Number.POSITIVE_INFINITY }: TranscriptQuery,
  store: TranscriptStore,
): readonly TranscriptEntry[] {
  if (!(limit >= 1)) throw new RangeError(`limit must be at least 1, got ${limit}.`);
  const attempts = new Attempts(store.pieces(threadId));
  const wanted = stage === undefined ? null : wantedAttempt(stage, attempt, attempts.counts);
  const entries: TranscriptEntry[] = [];
  for (const piece of store.pieces(threadId, afterSeq)) {
    const its = attempts.of(piece);
    if (wanted !== null && (its.stage !== wanted.stage || its.attempt !== wanted.attempt)) continue;
    entries.push(...entriesOf(piece, its, store));
    if (entries.length >= limit) break;
  }
  return entries;
}

function entriesOf(
  piece: StoredPiece,
  its: StageAttempt,
  store: TranscriptStore,
): readonly TranscriptEntry[] {
  const { seq, node, skipped } = piece;
  const entry = (at: number, activity: TranscriptEntry['activity']): TranscriptEntry => ({
    ...{ seq, at: new Date(at).toISOString() },
    ...its,
    ...{ node, activity: activity.kind === 'permission' ? asAsked(activity) : activity },
  });
  const lines = store.entriesOf(piece) as readonly TranscriptLine[];
  return [
    ...(skipped === 0 ? [] : [entry(piece.at, { kind: 'skipped', characters: skipped })]),
    ...lines.map(([at, activity]) => entry(at, activity)),
  ];
}

function wantedAttempt(
  stage: string,
  attempt: number | undefined,
  counts: ReadonlyMap<string, number>,
): StageAttempt {
  const attempts = counts.get(stage);
  if (attempts === undefined) throw unknownStage(stage, counts);
  if (attempt === undefined || (Number.isSafeInteger(attempt) && attempt >= 1 && attempt <= attempts)) {
    return { stage, attempt: attempt ?? attempts };
  }
  throw new RangeError(`The attempt of ${stage} must be from 1 to ${attempts}, got ${attempt}.`);
}

function unknownStage(stage: string, counts: ReadonlyMap<string, number>): RangeError {
  const known = [...counts.keys()].join(', ');
  const there = known === '' ? 'this run has no transcripts yet' : `available: ${known}`;
  return new RangeError(`There is no transcript of ${JSON.stringify(stage)}; ${there}.`);
}

const stageOfPiece = ({ taskId, name }: StoredPiece): string =>
  taskId === null ? name : `${taskLabel(taskId)}.${name}`;

const transcriptKey = ({ lgTaskId, name, attempt }: StoredPiece): string =>
  JSON.stringify([lgTaskId, name, attempt]);
