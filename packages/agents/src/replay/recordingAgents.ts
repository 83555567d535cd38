import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { CallUsage } from '@devs/core';
import {
  type AgentCall,
  type AnswerRequest,
  callUsage,
  type DesignRequest,
  DevsError,
  type StageAgents,
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
import { type AgentRequest, normaliseRequest } from './normaliseRequest.ts';
import {
  RECORDING_FORMAT,
  type RecordedCall,
  type RecordedUsage,
  type RecordingHeader,
  readRecording,
  recordingText,
} from './Recording.ts';
import { differenceFrom, recordedAnswers } from './requestDifference.ts';

/**
 * Wraps agents and writes every answered call to a recording (mode 0600). Continues an existing recording of the same
 * agents, so several processes can record one run; a repeated call after a crash replaces its line.
 *
 * A recording contains all texts unmasked, file contents included: read it before you share it.
 *
 * @throws DevsError `CONFIG_INVALID` if `file` is another recording or a damaged one.
 */
export function recordingAgents(inner: StageAgents, file: string): StageAgents {
  const pivot = inner.pivot?.bind(inner);
  const answer = inner.answer?.bind(inner);
  const tape = new Tape(file, recordingHeader(inner));
  return {
    name: inner.name,
    provenance: inner.provenance,
    ...(inner.fingerprint !== undefined && { fingerprint: inner.fingerprint }),
    ...(inner.reports !== undefined && { reports: inner.reports }),
    research: tape.recorded(
      (request) => stageKey('research', request.attempt),
      (request, call) => inner.research(request, call),
    ),
    design: tape.recorded(
      (request: DesignRequest) => designKey(request),
      (request, call) => inner.design(request, call),
    ),
    distill: tape.recorded(
      (request) => stageKey('distill', request.attempt),
      (request, call) => inner.distill(request, call),
    ),
    writeTest: tape.recorded(
      (request) => taskKey(request, 'test'),
      (request, call) => inner.writeTest(request, call),
    ),
    implement: tape.recorded(
      (request) => taskKey(request, 'implement'),
      (request, call) => inner.implement(request, call),
    ),
    review: tape.recorded(
      (request) => taskKey(request, 'review'),
      (request, call) => inner.review(request, call),
    ),
    document: tape.recorded(
      (request) => taskKey(request, 'document'),
      (request, call) => inner.document(request, call),
    ),
    ...(answer && { answer: tape.recorded((request) => tape.keyOfQuestion(request), answer) }),
    ...(pivot && { pivot: tape.recorded(pivotKey, pivot) }),
    close: async () => inner.close?.(),
  };
}

type AskAgent<Request, Response> = (request: Request, call: AgentCall) => Promise<Response>;

/** The calls of one recording file. Written whole, in one rename: a kill never leaves half a line. */
class Tape {
  readonly #file: string;
  readonly #header: RecordingHeader;
  readonly #calls: Map<string, RecordedCall>;

  constructor(file: string, header: RecordingHeader) {
    this.#file = file;
    this.#header = header;
    this.#calls = new Map(continued(file, header).map((call) => [keyText(call), call]));
  }

  recorded<Request extends AgentRequest, Response extends RecordedCall['response']>(
    keyOf: (request: Request) => CallKey,
    ask: AskAgent<Request, Response>,
  ): AskAgent<Request, Response> {
    return async (request, call) => {
      const key = keyOf(request);
      const asked = normaliseRequest(request);
      let used: RecordedUsage | undefined;
      const usage = (reported: Parameters<AgentCall['usage']>[0]): void => {
        call.usage(reported);
        used = withReport(used, reported);
      };
      const response = await ask(request, { ...call, usage });
      this.#save({ ...key, request: asked, response, ...(used === undefined ? {} : { usage: used }) });
      return response;
    };
  }

  /** Asked again on the same documents it takes the place of its line; on others it is another line. */
  keyOfQuestion(request: AnswerRequest): CallKey {
    const before = recordedAnswers(this.#calls.values(), request);
    const same = before.find((asked) => differenceFrom(asked, request) === null);
    return same ?? answerRequestKey(request, before.length + 1);
  }

  #save(call: RecordedCall): void {
    this.#calls.set(keyText(call), call);
    const staged = `${this.#file}.${process.pid}.part`;
    const text = recordingText({ header: this.#header, calls: [...this.#calls.values()] });
    rmSync(staged, { force: true });
    writeFileSync(staged, text, { mode: 0o600, flag: 'wx' });
    renameSync(staged, this.#file);
  }
}

/** A call may report several times; the recording has the sum. */
function withReport(
  before: RecordedUsage | undefined,
  reported: Parameters<AgentCall['usage']>[0],
): RecordedUsage | undefined {
  const report = figuresOf(reported);
  if (report === null) return before;
  const names = ['tokensIn', 'tokensOut', 'costUsd'] as const;
  const known = names.filter((name) => (before?.[name] ?? report[name]) !== undefined);
  return Object.fromEntries(known.map((name) => [name, (before?.[name] ?? 0) + (report[name] ?? 0)]));
}

function recordingHeader({ name, provenance }: StageAgents): RecordingHeader {
  return { format: RECORDING_FORMAT, label: provenance === 'scripted' ? 'scripted' : 'recorded', name };
}

function continued(file: string, header: RecordingHeader): readonly RecordedCall[] {
  if (!existsSync(file)) return [];
  const found = readRecording(file);
  if (found.header.name === header.name && found.header.label === header.label) return found.calls;
  throw new DevsError(`${file} is a recording of "${found.header.name}", not of "${header.name}".`, {
    code: 'CONFIG_INVALID',
    remedy: 'Use another file, or remove this one.',
  });
}

/** `null` for a report that no call can have made: a recording of it could not be read. */
function figuresOf(reported: Parameters<AgentCall['usage']>[0]): CallUsage | null {
  try {
    return callUsage(reported);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
