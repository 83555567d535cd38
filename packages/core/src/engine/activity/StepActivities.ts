import { isStorageFault } from '../../db/sqliteFault.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import type { Activity, ActivityScope, OnActivity } from '../../events/Activity.ts';
import type { EventBus } from '../../events/events.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { NodeStore, WriteScope } from '../../state/RunStore.ts';
import type { StepKey } from '../../state/steps/stepRecords.ts';
import type { MadeRoom, TranscribedStep } from '../../state/steps/TranscriptStore.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import { ActivityMasker } from './ActivityMasker.ts';

/** Where activities are kept and shown. */
interface ActivityOutlet {
  readonly runs: NodeStore;
  readonly at: WriteScope;
  readonly events: EventBus;
  /** Which of its pieces are kept. */
  readonly kept?: TranscriptWindow;
}

/** How long a whole line waits until it is shown, ms. */
const TICK_MS = 200;

/** How long what was shown waits until it is on disk, ms. */
const SAVE_MS = 1_000;

/** Characters that are written at once. */
const MAX_PIECE = 64 * 1024;

/** Characters taken between two ticks, about 5 MiB a second; masking more would hold the work up. */
const MAX_PER_TICK = 1024 * 1024;

/** Characters of an activity beside its texts. */
const OVERHEAD = 40;

/** Permissions of one step that are events. */
const MAX_ASKED = 100;

/** Characters of what is said in an event. */
const MAX_WORDS = 200;

/** An activity, and when it was shown, in ms since the Unix epoch. */
export type TranscriptLine = readonly [at: number, activity: Activity];

/**
 * What one attempt at a step tells while it runs: masked, told to listeners, and kept as its transcript, about once a
 * second. Nothing is lost by a kill but the last second and a line that was not whole.
 *
 * Never throws into the step: a piece that cannot be kept is one event, and the step goes on (law L6).
 */
export class StepActivities {
  readonly #step: TranscribedStep;
  readonly #scope: ActivityScope;
  readonly #outlet: ActivityOutlet;
  /** Most steps tell nothing: both are made when the first thing is told. */
  #masker: ActivityMasker | null = null;
  #kept: TranscriptWindow | null;
  #pending: TranscriptLine[] = [];
  #pendingChars = 0;
  #skipped = 0;
  #taken = 0;
  #savedAt = performance.now();
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;
  #asked = 0;
  #isLost = false;

  constructor(step: TranscribedStep, since: number, outlet: ActivityOutlet) {
    this.#step = step;
    this.#outlet = outlet;
    this.#kept = outlet.kept ?? null;
    const { threadId, node, taskId, name, attempt } = step;
    this.#scope = { threadId, node, taskId, step: name, attempt, since };
  }

  readonly tell: OnActivity = (activity) => {
    if (this.#isOver) return;
    try {
      this.#take(activity);
    } catch (error) {
      this.#lose(error);
    }
  };

  /** Tells listeners that the step has begun. */
  begin(): void {
    this.#outlet.events.tell({ kind: 'doing', what: this.#step.name }, this.#scope, this.#scope.since);
  }

  /** Shows the rest; nothing is taken any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#show(this.#masker?.end() ?? []);
  }

  /** Writes what was shown and is not on disk. */
  save(): void {
    try {
      this.#write();
    } catch (error) {
      this.#lose(error);
    }
  }

  /** {@link save} in the caller's transaction, whose fault a full disk and a lost lease are then. */
  saveWith(): void {
    try {
      this.#write();
    } catch (error) {
      if (isStorageFault(error) || isDevsError(error, 'LEASE_LOST')) throw error;
      this.#lose(error);
    }
  }

  #write(): void {
    if (this.#isLost || (this.#pending.length === 0 && this.#skipped === 0)) return;
    const piece = { entries: this.#pending, skipped: this.#skipped };
    const size = this.#pendingChars;
    this.#pending = [];
    this.#pendingChars = 0;
    this.#skipped = 0;
    this.#savedAt = performance.now();
    const { runs, at } = this.#outlet;
    this.#kept ??= new TranscriptWindow();
    this.#kept.add({ seq: runs.transcribe(at, this.#step, piece, this.#kept.dropped()), size });
  }

  #take(activity: Activity): void {
    this.#masker ??= new ActivityMasker();
    const size = activitySize(activity);
    if (this.#taken > MAX_PER_TICK) {
      if (this.#skipped === 0) this.#show(this.#masker.skip());
      this.#skipped += size;
    } else {
      this.#taken += size;
      this.#show(this.#masker.push(activity));
    }
    this.#timer ??= setTimeout(() => this.#tick(), TICK_MS).unref();
  }

  #tick(): void {
    this.#timer = null;
    const isBusy = this.#taken > 0;
    try {
      this.#show(this.#masker?.take() ?? []);
    } catch (error) {
      this.#lose(error);
    }
    // What waits is masked in pieces, with a turn of the loop between; until then no more is taken than would be at once.
    const isBehind = this.#masker?.isBehind === true;
    if (!isBehind) this.#taken = 0;
    const isDue = performance.now() - this.#savedAt >= SAVE_MS || this.#pendingChars >= MAX_PIECE;
    if (isDue) this.save();
    if (!isBusy && this.#pending.length === 0) return;
    this.#timer ??= setTimeout(() => this.#tick(), isBehind ? 0 : TICK_MS).unref();
  }

  #show(activities: readonly Activity[]): void {
    for (const activity of activities) {
      const at = Date.now();
      this.#outlet.events.tell(activity, this.#scope, at);
      if (activity.kind === 'permission') this.#record(activity);
      this.#keep([at, activity]);
    }
  }

  #keep([at, activity]: TranscriptLine): void {
    if (this.#isLost) return;
    const last = this.#pending.at(-1);
    const merged = last === undefined ? null : joined(last[1], activity);
    if (last !== undefined && merged !== null) this.#pending[this.#pending.length - 1] = [last[0], merged];
    else this.#pending.push([at, activity]);
    this.#pendingChars += activitySize(activity);
    if (this.#pendingChars >= 4 * MAX_PIECE) this.save();
  }

  /** A row of its own in the log: what an agent may do is looked up there later. Losing one never ends the step. */
  #record({ title, granted, why }: Extract<Activity, { readonly kind: 'permission' }>): void {
    if (this.#asked === MAX_ASKED) return;
    this.#asked += 1;
    const { node, name: step, threadId, taskId } = this.#step;
    const payload = { node, step, title: singleLineText(title), granted, why: singleLineText(why) };
    const { runs, at } = this.#outlet;
    try {
      runs.note(at, [{ name: 'AGENT_ASKED', payload, scope: { threadId, taskId } }]);
    } catch (error) {
      this.#lose(error);
    }
  }

  #lose(error: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#pending = [];
    if (isDevsError(error, 'LEASE_LOST')) return;
    const { runs, at, events } = this.#outlet;
    const { node, name: step, threadId, taskId } = this.#step;
    const payload = { node, step, message: maskSensitiveData(String(error)) };
    const scope = { threadId, taskId };
    try {
      runs.note(at, [{ name: 'TRANSCRIPT_LOST', payload, scope }]);
    } catch {
      events.emit('TRANSCRIPT_LOST', payload, scope); // the file takes nothing; the run's next write says so
    }
  }
}

function activitySize(activity: Activity): number {
  if ('text' in activity) return activity.text.length;
  return activity.kind === 'diff' ? activity.diff.length + OVERHEAD : JSON.stringify(activity).length;
}

/** Two pieces of one text as one; `null` where they are none. */
function joined(before: Activity, after: Activity): Activity | null {
  if (before.kind !== after.kind || !('text' in before) || !('text' in after)) return null;
  return before.text.length > MAX_PIECE ? null : { kind: before.kind, text: before.text + after.text };
}

function singleLineText(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS - 1)}…` : line;
}

/** An execution of a node, with the outlet of its activities. */
interface TellingNode extends Pick<ActivityOutlet, 'runs' | 'events'> {
  readonly visit: NodeExecution;
  readonly taskId: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** The name under which is kept what a node tells outside of its steps. */
const PREPARE = 'prepare';

/** What a visit of a node tells: each step's own, and what belongs to none. */
export class NodeActivities {
  readonly #node: TellingNode;
  readonly #steps: StepActivities[] = [];
  #own: StepActivities | null = null;

  constructor(node: TellingNode) {
    this.#node = node;
  }

  begin(step: StepKey, attempt: number): StepActivities {
    const begun = this.#activitiesOf(step, attempt);
    this.#steps.push(begun);
    begun.begin();
    return begun;
  }

  ended(step: StepActivities): void {
    const at = this.#steps.indexOf(step);
    if (at !== -1) this.#steps.splice(at, 1);
  }

  /** For what does not know which step it works for: the one that was begun last, or none. */
  readonly tell = (activity: Activity): void => {
    const step = this.#steps.at(-1);
    if (step !== undefined) step.tell(activity);
    else this.#ownActivities().tell(activity);
  };

  /** Keeps the rest of what belongs to no step. */
  close(): void {
    this.#own?.end();
    this.#own?.save();
    this.#own = null;
  }

  #ownActivities(): StepActivities {
    const { threadId, lgTaskId, attempt } = this.#node.visit;
    this.#own ??= this.#activitiesOf({ threadId, lgTaskId, name: PREPARE }, attempt);
    return this.#own;
  }

  #activitiesOf({ threadId, lgTaskId, name }: StepKey, attempt: number): StepActivities {
    const { visit, taskId, now, runs, events } = this.#node;
    const step = { threadId, lgTaskId, name, attempt, node: visit.node, taskId };
    return new StepActivities(step, now(), { runs, at: visit, events });
  }
}

/** Characters kept from the beginning of a transcript, and as much from its end. */
const MAX_HALF = 2 * 1024 * 1024;

/** Part of a half that is dropped at a time: each time, the file is searched for what else needs the bytes. */
const DROP_AT_ONCE = 1 / 4;

interface WindowPiece {
  readonly seq: number;
  /** Characters. */
  readonly size: number;
}

/** Which pieces of a long transcript are kept: its beginning and its end. The middle goes, and the next piece says so. */
export class TranscriptWindow {
  readonly #half: number;
  #head = 0;
  #tail: WindowPiece[] = [];
  #tailSize = 0;

  /** @param half - Characters kept from the beginning, and as much from the end. */
  constructor(half: number = MAX_HALF) {
    this.#half = half;
  }

  add(piece: WindowPiece): void {
    if (this.#tail.length === 0 && this.#head + piece.size <= this.#half) {
      this.#head += piece.size;
      return;
    }
    this.#tail.push(piece);
    this.#tailSize += piece.size;
  }

  /** `null` while there is room. */
  dropped(): MadeRoom | null {
    if (this.#tailSize < this.#half * (1 + DROP_AT_ONCE)) return null;
    const gone: WindowPiece[] = [];
    while (this.#tail.length > 1 && this.#tailSize > this.#half) {
      const [oldest] = this.#tail.splice(0, 1);
      if (oldest === undefined) break;
      gone.push(oldest);
      this.#tailSize -= oldest.size;
    }
    const [next] = this.#tail;
    if (next === undefined || gone.length === 0) return null;
    return {
      seqs: gone.map(({ seq }) => seq),
      size: gone.reduce((sum, { size }) => sum + size, 0),
      before: next.seq,
    };
  }
}
