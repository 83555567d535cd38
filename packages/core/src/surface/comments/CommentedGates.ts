import { whenFree } from '../../db/busy.ts';
import type { EngineStore } from '../../engine/EngineStore.ts';
import { ruleOf } from '../../engine/gates/answers.ts';
import type { QuotableSection, QuotableSections } from '../../engine/gates/comments.ts';
import { type Gate, type GateAnswer, gateOf } from '../../engine/gates/Gate.ts';
import type { CodeOfRuns } from '../../orchestration/ports.ts';
import type { HitlSession, HitlSessionKind } from '../../state/gates/hitlSession.ts';
import { sessionOfRun } from '../sessionOfRun.ts';
import { codeReader, quotedFiles, type ReadQuotedCode, reviewedCode, shownFiles } from './codeQuoted.ts';
import { type LastComment, lastComments } from './lastComments.ts';

export interface PlacesOptions {
  /** Whether the files of a code review are read. @defaultValue true */
  readonly code?: boolean;
}

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
    { by, via, withHidden, ...answer }: GateAnswer,
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
    return lastComments(gate, { ...this.#shown(gate.kind), sessions: this.#store.sessions });
  }

  #shown(kind: HitlSessionKind): { readonly places: QuotableSections; readonly read: ReadQuotedCode | null } {
    const { places = () => [] } = ruleOf(this.#store.rules, kind);
    return { places, read: this.#read };
  }
}
