// Compares a request with recorded ones.

import { type AnswerRequest, maskSensitiveData } from '@devs/core';
import { answerRequestKey, keyText } from './callKey.ts';
import { type AgentRequest, type Json, normaliseJson, normaliseRequest } from './normaliseRequest.ts';
import type { RecordedCall } from './Recording.ts';

/** What was recorded for a question in the same words about the same work, in its order. */
export function recordedAnswers(
  calls: Iterable<RecordedCall>,
  request: AnswerRequest,
): readonly RecordedCall[] {
  return [...calls].filter((call) => keyText(call) === keyText(answerRequestKey(request, call.attempt)));
}

/** The first place where a request is another than the recorded one; a line without one answers any. */
export function differenceFrom(
  { request: recorded }: RecordedCall,
  request: AgentRequest,
): ValueDifference | null {
  return recorded === undefined ? null : firstDifference(normaliseJson(recorded), normaliseRequest(request));
}

/** Characters shown of a value, beginning shortly before the place where it differs. */
const SHOWN = 80;
const LEAD = 16;

interface ValueDifference {
  /** `documents[0].content`; empty for the value itself. */
  readonly path: string;
  readonly expected: string;
  readonly got: string;
}

/** The first place where two JSON values differ, or `null`. The order of an object's members is no difference. */
export function firstDifference(expected: Json, got: Json, path = ''): ValueDifference | null {
  if (Array.isArray(expected) && Array.isArray(got)) {
    return firstDiffering(indexes(expected, got), (index) =>
      memberDifference(expected[index], got[index], `${path}[${index}]`),
    );
  }
  if (isJsonObject(expected) && isJsonObject(got)) {
    return firstDiffering(keys(expected, got), (key) =>
      memberDifference(expected[key], got[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return expected === got ? null : { path, ...excerpts(expected, got) };
}

function memberDifference(
  expected: Json | undefined,
  got: Json | undefined,
  path: string,
): ValueDifference | null {
  if (expected !== undefined && got !== undefined) return firstDifference(expected, got, path);
  if (expected === got) return null;
  return { path, expected: excerptAt(expected, 0), got: excerptAt(got, 0) };
}

function firstDiffering<Item>(
  items: readonly Item[],
  compare: (item: Item) => ValueDifference | null,
): ValueDifference | null {
  for (const item of items) {
    const difference = compare(item);
    if (difference !== null) return difference;
  }
  return null;
}

function indexes(a: readonly Json[], b: readonly Json[]): readonly number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => index);
}

function keys(a: object, b: object): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
}

function isJsonObject(value: Json): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function excerpts(expected: Json, got: Json): Pick<ValueDifference, 'expected' | 'got'> {
  let same = 0;
  if (typeof expected === 'string' && typeof got === 'string') {
    while (same < expected.length && expected[same] === got[same]) same += 1;
  }
  return { expected: excerptAt(expected, same), got: excerptAt(got, same) };
}

function excerptAt(value: Json | undefined, at: number): string {
  if (value === undefined) return 'nothing';
  if (typeof value !== 'string') return cutAround(maskSensitiveData(JSON.stringify(value)), 0);
  return JSON.stringify(cutAround(maskSensitiveData(value), at));
}

function cutAround(text: string, at: number): string {
  const from = at > SHOWN - LEAD ? at - LEAD : 0;
  const end = from + SHOWN;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`;
}
