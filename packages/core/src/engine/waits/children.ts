import { realpathSync } from 'node:fs';
import type { Callbacks } from '@langchain/core/callbacks/manager';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import type { OptionNames } from '../../config/knownOptions.ts';
import { identityOf } from '../../db/fileIdentity.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { EventSink } from '../../events/events.ts';
import type { StateFile } from '../../state/StateFile.ts';
import type { StopControl } from '../execution/StopControl.ts';
import type { EngineStore } from '../gates/EngineStore.ts';

/** A run as an app would record it. */
export interface PreparedRun {
  /** Records it in the caller's transaction, on the connection of another app of the same file. */
  record(store: EngineStore, emit: EventSink['emit']): unknown;
  /** @throws DevsError `INPUT_NOT_TAKEN` where the run was given another input or context. */
  assertSame(): Promise<void>;
}

/** What a child is given besides its input, as `run` takes it; recorded with it. */
export interface ChildOptions {
  readonly context?: object;
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly tags?: string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A config of LangGraph is also taken; only its members above are used. */
export const CHILD = {
  context: true,
  configurable: true,
  tags: true,
  metadata: true,
  callbacks: true,
  control: true,
  durability: true,
  executionInfo: true,
  heartbeat: true,
  interrupt: true,
  maxConcurrency: true,
  recursionLimit: true,
  runId: true,
  runName: true,
  serverInfo: true,
  signal: true,
  store: true,
  streamMode: true,
  subgraphs: true,
  timeout: true,
  writer: true,
} satisfies OptionNames<ChildOptions & LangGraphRunnableConfig> & Readonly<Record<string, true>>;

/** How a child is driven: as its parent is. */
export interface ChildDrive {
  /** Of the parent's drive: the child is stopped with it. */
  readonly above: StopControl;
  readonly callbacks?: Callbacks;
  readonly now?: number;
}

/** What `child()` and a run's driver need of the app of a child. */
export interface ChildApp {
  readonly db: Database;
  ready(id: string, input: unknown, options: ChildOptions): Promise<PreparedRun>;
  drive(id: string, options: ChildDrive): Promise<unknown>;
  /** What its output schema had at the checkpoint it ended with; `null` where it had none. @throws DevsError `STATE_CORRUPT` where it is missing. */
  endedWith(id: string, checkpointId: string | null): Promise<unknown>;
}

/** The app of a graph over the state file of the run that calls. */
type OpenChildApp = (parent: EngineStore) => ChildApp;

const apps = new WeakMap<object, OpenChildApp>();

/** Lets runs of an app be children. Where its runs have a file each, a child is in the file of its parent. */
export function registerApp(app: object, open: OpenChildApp): void {
  apps.set(app, open);
}

/**
 * What `child()` needs of an app.
 *
 * @param parent - The state file of the run that calls.
 * @throws TypeError for what is no app, and for one of another state file.
 */
export function childAppOf(app: unknown, parent: EngineStore): ChildApp {
  const given = typeof app === 'object' && app !== null ? app : {};
  const known = apps.get(given)?.(parent);
  if (known === undefined)
    throw new TypeError('Expected the app of the child run, as returned by durable().');
  if (isSameFile(known.db, parent.db)) return known;
  throw new TypeError('A child run needs an app with the same state file as its parent.');
}

function isSameFile(left: Database, right: Database): boolean {
  if (left === right) return true;
  if (left.memory || right.memory) return false;
  const [one, other] = [identityOf(realpathSync(left.name)), identityOf(realpathSync(right.name))];
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** Apps of the child runs that nodes have called for, by the drive they did it in. */
const called = new WeakMap<object, Map<string, ChildApp>>();

/** Apps by the ids of the runs that nodes have called for in a drive, which it can drive; empty outside one. */
export function childAppsOf(drive: object | null): Map<string, ChildApp> {
  const apps = (drive && called.get(drive)) ?? new Map<string, ChildApp>();
  if (drive !== null) called.set(drive, apps);
  return apps;
}

interface ChildRequest {
  readonly childId: string;
  readonly parentId: string;
}

/**
 * A run is begun once, by one parent or by nobody's node, and no run waits for itself. Call it in the transaction that
 * begins the child.
 *
 * @returns Whether the child is there already.
 * @throws DevsError `CHILD_NOT_TAKEN`
 */
export function assertMayBeChild(
  asked: ChildRequest,
  { threads, children }: Pick<StateFile, 'threads' | 'children'>,
): boolean {
  const { childId, parentId } = asked;
  if (childId === parentId) throw childConflict(asked, 'a run cannot be its own child');
  if (children.above(parentId).includes(childId))
    throw childConflict(asked, 'it is an ancestor of the parent');
  const known = children.find(childId);
  if (known !== null && known.parentId !== parentId)
    throw childConflict(asked, `it is already a child of "${known.parentId}"`);
  if (known === null && threads.get(childId) !== null)
    throw childConflict(asked, 'it was started as a separate run');
  return known !== null;
}

const childConflict = ({ childId, parentId }: ChildRequest, why: string): DevsError =>
  new DevsError(`Run "${childId}" cannot be a child of run "${parentId}": ${why}.`, {
    code: 'CHILD_NOT_TAKEN',
    remedy: 'Use a new id for the child, for example the id of its parent plus its purpose.',
    context: { threadId: parentId, child: childId },
  });
