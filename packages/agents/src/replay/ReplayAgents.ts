import type { CallUsage } from '@devs/core';
import {
  type AgentCall,
  type AnswerRequest,
  type AnswerResult,
  type DesignRequest,
  DevsError,
  type DistillRequest,
  type DocumentsResult,
  type PivotRequest,
  type PivotResult,
  type PlanResult,
  type ResearchRequest,
  type ReviewResult,
  type StageAgents,
  type TaskRequest,
  type WorkResult,
} from '@devs/core';
import {
  answerRequestKey,
  type CallKey,
  designKey,
  keyText,
  pivotKey,
  stageKey,
  taskKey,
} from './callKey.ts';
import type { AgentRequest } from './normaliseRequest.ts';
import { type RecordedCall, type RecordedUsage, type Recording, readRecording } from './Recording.ts';
import { differenceFrom, recordedAnswers } from './requestDifference.ts';

/** Keys listed by an error before it says how many more there are. */
const MAX_LISTED = 8;

export interface ReplayOptions {
  /** Called before each answer: a ledger of what was asked, kept outside the engine. */
  readonly onCall?: (key: CallKey) => void;
}

/**
 * Agents that answer from a recording: offline, and equal every time.
 *
 * A call is found by stage, task, attempt and step; its request is compared. A call that was not recorded throws.
 *
 * @example
 * ```ts
 * const agents = ReplayAgents.open('examples/slugify/recording.jsonl');
 * agents.provenance; // → 'scripted'
 * ```
 */
export class ReplayAgents implements StageAgents {
  readonly name: string;
  readonly provenance: StageAgents['provenance'];
  /** Present if the recording has a pivot; agents without one end a stuck task differently. */
  readonly pivot?: (request: PivotRequest, call: AgentCall) => Promise<PivotResult>;
  /** Present if the recording has one; without it, questions are rejected. */
  readonly answer?: (request: AnswerRequest, call: AgentCall) => Promise<AnswerResult>;
  readonly #calls: ReadonlyMap<string, RecordedCall>;
  readonly #onCall: (key: CallKey) => void;

  constructor({ header, calls }: Recording, { onCall = () => undefined }: ReplayOptions = {}) {
    this.name = header.name;
    this.provenance = header.label;
    this.#calls = new Map(calls.map((call) => [keyText(call), call]));
    this.#onCall = onCall;
    if (calls.some(({ step }) => step === 'pivot')) {
      this.pivot = async (request, call) => this.#answer(pivotKey(request), request, call);
    }
    if (calls.some(({ stage }) => stage === 'ask')) {
      this.answer = async (request, call) => this.#answer(this.#keyOfQuestion(request), request, call);
    }
  }

  /** @throws DevsError `CONFIG_INVALID` naming the line, before anything runs. */
  static open(file: string, options: ReplayOptions = {}): ReplayAgents {
    return new ReplayAgents(readRecording(file), options);
  }

  async research(request: ResearchRequest, call: AgentCall): Promise<DocumentsResult> {
    return this.#answer(stageKey('research', request.attempt), request, call);
  }

  async design(request: DesignRequest, call: AgentCall): Promise<DocumentsResult> {
    const key = designKey(request);
    // A recording from before designs were sent back for the files they name says what it said.
    if (key.step === 'again' && !this.#calls.has(keyText(key))) {
      const said = this.#calls.get(keyText(stageKey('design', request.attempt)));
      if (said !== undefined) return structuredClone(said.response) as DocumentsResult;
    }
    return this.#answer(key, request, call);
  }

  async distill(request: DistillRequest, call: AgentCall): Promise<PlanResult> {
    return this.#answer(stageKey('distill', request.attempt), request, call);
  }

  async writeTest(request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    return this.#answer(taskKey(request, 'test'), request, call);
  }

  async implement(request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    return this.#answer(taskKey(request, 'implement'), request, call);
  }

  async review(request: TaskRequest, call: AgentCall): Promise<ReviewResult> {
    return this.#answer(taskKey(request, 'review'), request, call);
  }

  async document(request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    return this.#answer(taskKey(request, 'document'), request, call);
  }

  /** A question is found by its words; of several on other documents, the one whose request is the same. */
  #keyOfQuestion(request: AnswerRequest): CallKey {
    const before = recordedAnswers(this.#calls.values(), request);
    const same = before.find((asked) => differenceFrom(asked, request) === null);
    return same ?? before.at(-1) ?? answerRequestKey(request, 1);
  }

  /** The response has the type of its key: `readRecording` checked each line against its stage and step. */
  #answer<Result extends RecordedCall['response']>(
    key: CallKey,
    request: AgentRequest,
    call: AgentCall,
  ): Result {
    call.signal.throwIfAborted();
    this.#onCall(key);
    const recorded = this.#calls.get(keyText(key));
    if (recorded === undefined) throw this.#miss(key);
    assertSameRequest(recorded, request);
    if (recorded.usage !== undefined) call.usage(recordedUsage(recorded.usage));
    return structuredClone(recorded.response) as Result;
  }

  #miss(key: CallKey): DevsError {
    const related = [...this.#calls.values()].filter(
      ({ stage, task }) => stage === key.stage && task === key.task,
    );
    const known = (related.length > 0 ? related : [...this.#calls.values()]).map(keyText);
    const more = known.length > MAX_LISTED ? ` and ${known.length - MAX_LISTED} more` : '';
    const has = known.length === 0 ? 'nothing' : `${known.slice(0, MAX_LISTED).join(', ')}${more}`;
    return replayMiss(`The recording "${this.name}" has no ${keyText(key)}; it has ${has}.`, key);
  }
}

function assertSameRequest(recorded: RecordedCall, request: AgentRequest): void {
  const difference = differenceFrom(recorded, request);
  if (difference === null) return;
  const { path, expected, got } = difference;
  const where = `The request of ${keyText(recorded)} differs from the recorded one`;
  throw replayMiss(`${where} at ${path || 'its top'}:\n  expected ${expected}\n  got      ${got}`, recorded);
}

function replayMiss(message: string, { stage, task, attempt, step }: CallKey): DevsError {
  return new DevsError(message, {
    code: 'REPLAY_MISS',
    remedy: 'Use the brief that the recording was made from, or record this call.',
    context: { stage, task, attempt, step },
  });
}

function recordedUsage({ tokensIn, tokensOut, costUsd }: RecordedUsage): CallUsage {
  return {
    ...(tokensIn === undefined ? {} : { tokensIn }),
    ...(tokensOut === undefined ? {} : { tokensOut }),
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}
