import { readFileSync } from 'node:fs';
import {
  type AnswerResult,
  DevsError,
  type DocumentsResult,
  type PivotResult,
  type PlanResult,
  type ReviewResult,
  type WorkResult,
} from '@devs/core';
import { z } from 'zod';
import {
  answerShape,
  pivotShape,
  planShape,
  recordedDocumentsShape,
  reviewShape,
  workShape,
} from '../answers.ts';
import { type CallKey, keyText, type RecordedStage, type RecordedStep, STAGES, STEPS } from './callKey.ts';
import type { Json } from './normaliseRequest.ts';

export const RECORDING_FORMAT = 'devs-recording/1';

/** The first line of a recording. */
export interface RecordingHeader {
  readonly format: typeof RECORDING_FORMAT;
  /** `scripted`: written by hand; `recorded`: from a model. */
  readonly label: 'scripted' | 'recorded';
  readonly name: string;
}

/** One answered call. */
export interface RecordedCall extends CallKey {
  /** Normalized; absent in a scripted line that answers any request. */
  readonly request?: Json | undefined;
  readonly response: DocumentsResult | PlanResult | ReviewResult | WorkResult | PivotResult | AnswerResult;
  readonly usage?: RecordedUsage | undefined;
}

export interface RecordedUsage {
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  readonly costUsd?: number | undefined;
}

/** A whole recording in memory, checked line by line. */
export interface Recording {
  readonly header: RecordingHeader;
  readonly calls: readonly RecordedCall[];
}

const recordedText = z.string();
const recordedCount = z.int().nonnegative();

const header: z.ZodType<RecordingHeader> = z.strictObject({
  format: z.literal(RECORDING_FORMAT),
  label: z.enum(['scripted', 'recorded']),
  name: recordedText.min(1),
});

const call = z.strictObject({
  stage: z.enum(STAGES),
  task: recordedText,
  attempt: z.int().positive(),
  step: z.enum(STEPS),
  question: recordedText.min(1).optional(),
  request: z.json().optional(),
  response: z.unknown(),
  usage: z
    .strictObject({
      tokensIn: recordedCount.optional(),
      tokensOut: recordedCount.optional(),
      costUsd: z.number().nonnegative().optional(),
    })
    .optional(),
});

/**
 * Reads a recording: JSON Lines with a header and one answered call per line. Skips blank lines.
 *
 * @throws DevsError `CONFIG_INVALID` with file and line number for an unreadable file, invalid JSON, an unexpected
 *   shape, or a call recorded twice.
 */
export function readRecording(file: string): Recording {
  const lines = readLines(file);
  const [first, ...rest] = lines;
  if (first === undefined) throw invalidLine(file, 1, 'the header line is missing');
  const seen = new Set<string>();
  const calls = rest.map(({ number, json }) => {
    const parsed = parseCall(file, number, json);
    const key = keyText(parsed);
    if (seen.has(key)) throw invalidLine(file, number, `${key} is recorded twice`);
    seen.add(key);
    return parsed;
  });
  return { header: parseShape(header, { file, number: first.number, value: first.json }), calls };
}

/** Returns the text of a recording; {@link readRecording} reads it back equal. */
export function recordingText({ header: first, calls }: Recording): string {
  return [first, ...calls].map((line) => `${JSON.stringify(line)}\n`).join('');
}

interface NumberedLine {
  readonly number: number;
  readonly json: unknown;
}

function readLines(file: string): readonly NumberedLine[] {
  const lines = readRecordingFile(file)
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }));
  return lines
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => {
      try {
        return { number, json: JSON.parse(line) as unknown };
      } catch {
        throw invalidLine(file, number, 'it is not JSON');
      }
    });
}

function readRecordingFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new DevsError(`Cannot read the recording ${file}: ${(error as Error).message}`, {
      code: 'CONFIG_INVALID',
      remedy: 'Name an existing recording.',
      cause: error,
    });
  }
}

function parseCall(file: string, number: number, value: unknown): RecordedCall {
  const { response, request, ...line } = parseShape(call, { file, number, value });
  const problem = misfitIn(line);
  if (problem !== null) throw invalidLine(file, number, `${problem}: does not match the stage`);
  const answer = parseShape(responseShape(line), { file, number, value: response, at: 'response' });
  return { ...line, ...(request === undefined ? {} : { request: request as Json }), response: answer };
}

/** The member of a key that no call of its stage has. */
function misfitIn({ stage, task, step, question }: CallKey): 'task' | 'step' | 'question' | null {
  const isOfTask = /^T[1-9]\d*$/.test(task);
  if (stage === 'task' ? !isOfTask : task !== '' && !(stage === 'ask' && isOfTask)) return 'task';
  if (!STEPS_OF[stage].includes(step)) return 'step';
  return (stage === 'ask') === (question === undefined) ? 'question' : null;
}

const STEPS_OF: Readonly<Record<RecordedStage, readonly RecordedStep[]>> = {
  research: ['call'],
  design: ['call', 'again'],
  distill: ['call'],
  task: ['test', 'implement', 'review', 'document', 'pivot', 'pivotAgain'],
  ask: ['design', 'distill', 'implement', 'review', 'pivot'],
};

function responseShape({ stage, step }: CallKey): z.ZodType<RecordedCall['response']> {
  if (stage === 'ask') return answerShape;
  if (stage === 'distill') return planShape;
  if (stage !== 'task') return recordedDocumentsShape;
  return TASK_RESPONSES[step] ?? workShape;
}

/** Of the steps that edit nothing. */
const TASK_RESPONSES: Partial<Record<RecordedStep, z.ZodType<RecordedCall['response']>>> = {
  review: reviewShape,
  pivot: pivotShape,
  pivotAgain: pivotShape,
};

interface RecordingLine {
  readonly file: string;
  readonly number: number;
  readonly value: unknown;
  readonly at?: string;
}

function parseShape<Value>(shape: z.ZodType<Value>, { file, number, value, at }: RecordingLine): Value {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = [...(at === undefined ? [] : [at]), ...(issue?.path ?? [])].map(String).join('.');
  throw invalidLine(file, number, `${path === '' ? 'line' : path}: ${issue?.message ?? 'wrong shape'}`);
}

function invalidLine(file: string, line: number, why: string): DevsError {
  return new DevsError(`${file}:${line}: this line of the recording is not valid: ${why}.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Correct the line, or record again.',
    context: { file, line },
  });
}
