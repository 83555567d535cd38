// The gates of a run: found by their session, commented on, as a person saw them last, announced once.

import { whenFree } from '../db/busy.ts';
import { comments, placeNamed, type QuotableSection } from '../engine/gates/answerForms.ts';
import { assertDecidable } from '../engine/gates/approvals.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { ruleOf } from '../engine/gates/engineGates.ts';
import { type Gate, gateOf, type SentAnswer } from '../engine/gates/Gate.ts';
import { type RevealedPlace, revealedPlaces, revealFact } from '../engine/gates/hiddenPlaces.ts';
import { asHuman, isSameId, principalOf, principalText } from '../engine/gates/principals.ts';
import { DevsError, isDevsError } from '../errors/DevsError.ts';
import type { EventBus } from '../events/events.ts';
import { scrub } from '../masking/scrub.ts';
import type { CodeOfRuns, CodeReview } from '../orchestration/ports.ts';
import {
  type LastComment,
  lastComments,
  type QuotableTexts,
  type ReadQuotedCode,
} from '../orchestration/review/lastComments.ts';
import { afterBarrier } from '../state/commits/CommitBarrier.ts';
import type { HitlSessionStore } from '../state/gates/HitlSessionStore.ts';
import type { HitlSession, HitlSessionKind, Principal } from '../state/gates/hitlSession.ts';

/** A session, open or closed. @throws DevsError `GATE_NOT_FOUND` also for one of another run. */
export function sessionOfRun(threadId: string, sessionId: string, sessions: HitlSessionStore): HitlSession {
  const session = sessions.require(sessionId);
  if (session.threadId === threadId) return session;
  throw new DevsError(`Run "${threadId}" has no gate "${sessionId}".`, {
    code: 'GATE_NOT_FOUND',
    remedy: 'Use the run that the gate belongs to.',
    context: { threadId, sessionId },
  });
}

/** Told of a gate that a human has to decide. May be asynchronous; nothing waits for it. */
export type OnGate = (gate: Gate) => void | Promise<void>;

/**
 * Tells of each gate, once per process, when the run that waits at it has come to rest: it can be decided then. A
 * listener that fails is a warning of the process; the run does not notice.
 *
 * @returns A function that stops it.
 */
export function tellGates(
  events: EventBus,
  gatesOf: (threadId: string) => readonly Gate[] | Promise<readonly Gate[]>,
  onGate: OnGate,
): () => void {
  const told = new Set<string>();
  const tell = (gates: readonly Gate[]): void => {
    for (const gate of gates.filter(({ sessionId }) => !told.has(sessionId))) {
      told.add(gate.sessionId);
      Promise.resolve(gate).then(onGate).catch(warn);
    }
  };
  return events.on('RUN_SUSPENDED', (_payload, { threadId }) => {
    Promise.resolve(gatesOf(threadId ?? ''))
      .then(tell)
      .catch(warn);
  });
}

function warn(error: unknown): void {
  process.emitWarning(`onGate failed: ${String(error)}`, 'DevsListenerWarning');
}

export interface PlacesOptions {
  /** Whether the files of a code review are read. @defaultValue true */
  readonly code?: boolean;
}

/** The part of a run's file that its gates need. */
interface FileOfGates {
  readonly app: { readonly store: EngineStore };
  readonly code: CodeOfRuns | null;
}

/** As {@link CommentedGates} of a run's file. */
export const commentedGates = (threadId: string, { app, code }: FileOfGates): CommentedGates =>
  new CommentedGates(threadId, app.store, code);

/** The gates of one run as texts that people comment on: what sessions hold, and code that lies in git. */
export class CommentedGates {
  readonly #threadId: string;
  readonly #store: EngineStore;
  readonly #code: CodeOfRuns | null;
  readonly #read: ReadQuotedCode | null;

  constructor(threadId: string, store: EngineStore, code: CodeOfRuns | null) {
    this.#threadId = threadId;
    this.#store = store;
    this.#code = code;
    this.#read = codeReader(threadId, code);
  }

  /** Records a decision; what its comments quote of code is looked for in the commits that the gate names. */
  async decide(
    { sessionId, artifactHash }: Pick<Gate, 'sessionId' | 'artifactHash'>,
    { by, via, withHidden, ...answer }: SentAnswer,
  ): Promise<HitlSession> {
    const session = sessionOfRun(this.#threadId, sessionId, this.#store.sessions);
    const places = 'comments' in answer ? await this.#filesQuoted(session, answer) : [];
    const hasCode = session.kind === 'review' && answer['approved'] === true;
    const code = hasCode ? await this.#codeAt(session) : undefined;
    const { db, manager } = this.#store;
    const given = { artifactHash, answer, by, via, places, withHidden, code };
    return whenFree(db, () => manager.decide(sessionId, given));
  }

  /** An open gate of the run with the code that is shown with it. @throws DevsError `GATE_NOT_FOUND` */
  async withCode({ sessionId }: Pick<Gate, 'sessionId'>): Promise<Gate & { readonly code?: string }> {
    const session = sessionOfRun(this.#threadId, sessionId, this.#store.sessions);
    const code = await this.#codeAt(session);
    return { ...gateOf(session), ...(code !== undefined && { code }) };
  }

  async #codeAt(session: HitlSession): Promise<string | undefined> {
    if (session.kind !== 'review' || session.status !== 'awaiting_approval') return undefined;
    return reviewedCode(gateOf(session), this.#code);
  }

  /** Whoever cannot answer the session anyway is told so by the decision. */
  async #filesQuoted(session: HitlSession, answer: object): Promise<readonly QuotableSection[]> {
    if (session.kind !== 'review' || session.status !== 'awaiting_approval') return [];
    return quotedFiles(gateOf(session), answer, this.#shown('review'));
  }

  async places(gate: Gate, { code = true }: PlacesOptions): Promise<readonly QuotableSection[]> {
    const { places, read } = this.#shown(gate.kind);
    return [...places(gate.artifact), ...(await shownFiles(gate, code ? read : null))];
  }

  lastComments(gate: Gate): Promise<readonly LastComment[]> {
    return lastComments(gate, this.#shown(gate.kind), this.#store.sessions);
  }

  #shown(kind: HitlSessionKind): QuotableTexts {
    const { places = () => [] } = ruleOf(this.#store.rules, kind);
    return { places, read: this.#read };
  }
}

// What a code review shows lies in git: its session names commits and holds no line of them.

/** `null` where nobody said where the code of runs is. */
function codeReader(threadId: string, code: CodeOfRuns | null): ReadQuotedCode | null {
  const readAt = code?.readAt?.bind(code);
  if (readAt === undefined) return null;
  return async (commit, path) => {
    const text = await readAt(threadId, commit, path);
    return text === null ? null : scrub(text).value;
  };
}

/** What a code review shows of its code, unmasked; `undefined` at other gates, and where no code can be read. */
async function reviewedCode(
  { kind, threadId, artifact }: Reviewed,
  code: CodeOfRuns | null,
): Promise<string | undefined> {
  if (kind !== 'review') return undefined;
  const { from, to } = (artifact as CodeReview).range;
  try {
    return await code?.diff?.(threadId, { from, to });
  } catch (error) {
    // Nobody is shown it either.
    if (isDevsError(error, 'WORKSPACE_FAILED')) return undefined;
    throw error;
  }
}

type Reviewed = Pick<Gate, 'kind' | 'threadId' | 'artifact'>;

/** The files that a code review shows first; none at other gates, and where no code can be read. */
async function shownFiles(gate: Reviewed, read: ReadQuotedCode | null): Promise<readonly QuotableSection[]> {
  if (gate.kind !== 'review' || read === null) return [];
  const { files } = (gate.artifact as CodeReview).range;
  return filePlaces(gate, { paths: files.map(({ path }) => path), read });
}

/**
 * The files that comments on a code review quote, of an answer that may be anything.
 *
 * @param places - What its session holds.
 * @throws DevsError `CONFIG_INVALID` where the code cannot be read: what is quoted could not be looked for.
 */
async function quotedFiles(
  gate: Reviewed,
  answer: { readonly comments?: unknown },
  { places, read }: QuotableTexts,
): Promise<readonly QuotableSection[]> {
  const given = comments().safeParse(answer.comments);
  if (!given.success) return [];
  const own = places(gate.artifact);
  const names = new Set(given.data.map(({ in: name }) => name));
  const paths = [...names].filter((name) => placeNamed(own, name) === null);
  if (paths.length === 0) return [];
  if (read === null) throw codeUnreadable(gate);
  return filePlaces(gate, { paths, read });
}

/** Of those that are other files now than before the range. */
async function filePlaces(
  { artifact }: Reviewed,
  { paths, read }: { readonly paths: readonly string[]; readonly read: ReadQuotedCode },
): Promise<readonly QuotableSection[]> {
  const { from, to } = (artifact as CodeReview).range;
  const places: QuotableSection[] = [];
  for (const path of paths) {
    const [now, before] = [await read(to, path), await read(from, path)];
    if (now !== before) places.push({ names: [path], texts: [now ?? '', before ?? ''] });
  }
  return places;
}

const codeUnreadable = ({ threadId }: Reviewed): DevsError =>
  new DevsError(
    `Comments on the code of run "${threadId}" cannot be checked, because the code cannot be read here.`,
    {
      code: 'CONFIG_INVALID',
      remedy: 'Open the orchestrator with the workspace of the run.',
      context: { threadId },
    },
  );

// What people saw of a gate: each view is on record, and hidden text only once a person read it.

/** Records that a person viewed a gate; see {@link Run.recordViewed}. */
export function recordViewed(
  threadId: string,
  gate: Gate,
  by: Principal,
  store: EngineStore,
): Promise<Gate | null> {
  const { kind, sessionId, taskId, artifactHash } = gate;
  const reader = principalOf(by);
  sessionOfRun(threadId, sessionId, store.sessions);
  const before = store.commit((emit) => {
    const payload = { sessionId, kind, principal: principalText(reader), artifactHash };
    const last = lastShown(gate, reader, store);
    emit('GATE_SHOWN', payload, { threadId, taskId });
    return last;
  });
  return afterBarrier(store.outlet, before);
}

/** Hidden places of an open gate, for one person; see {@link Run.reveal}. */
export async function revealHidden(
  threadId: string,
  { sessionId, artifactHash }: Pick<Gate, 'sessionId' | 'artifactHash'>,
  by: Principal,
  file: FileOfGates,
): Promise<readonly RevealedPlace[]> {
  const human = asHuman(by, threadId, 'read hidden text at gates of');
  const { store } = file.app;
  assertDecidable(sessionOfRun(threadId, sessionId, store.sessions), artifactHash);
  const gate = await commentedGates(threadId, file).withCode({ sessionId });
  const payload = revealFact(gate, human);
  if (payload.count > 0)
    store.commit((emit) => emit('GATE_REVEALED', payload, { threadId, taskId: gate.taskId }));
  return afterBarrier(store.outlet, revealedPlaces(gate));
}

/**
 * What a person was shown last of a gate's kind and task, if that was something else than it shows now; `null` for
 * the first time, and when it is the same. For display only: no decision depends on it.
 */
function lastShown(gate: Gate, by: Principal, store: EngineStore): Gate | null {
  const last = timesShown(gate, by, store).at(-1);
  return last === undefined || last.artifactHash === gate.artifactHash ? null : gateViewedAt(last, store);
}

/** What they were shown last of other versions than this one, whether or not they have seen this one. For display only. */
export function shownBefore(gate: Gate, by: Principal, store: EngineStore): Gate | null {
  const isOther = ({ artifactHash }: ViewedGateKey): boolean => artifactHash !== gate.artifactHash;
  const last = timesShown(gate, by, store).findLast(isOther);
  return last === undefined ? null : gateViewedAt(last, store);
}

type ViewedGateKey = Pick<Gate, 'sessionId' | 'artifactHash'>;

function timesShown(gate: Gate, by: Principal, store: EngineStore): readonly ViewedGateKey[] {
  const { kind, taskId, threadId } = gate;
  const principal = principalText(by);
  return store.log
    .listNamed(threadId, 'GATE_SHOWN')
    .filter((event) => event.taskId === taskId)
    .map(({ payload }) => payload)
    .filter((payload) => payload.kind === kind && isSameId(payload.principal, principal));
}

function gateViewedAt({ sessionId }: ViewedGateKey, store: EngineStore): Gate | null {
  const session = store.sessions.find(sessionId);
  return session === null ? null : gateOf(session);
}
