import { maskSensitiveData } from '@devs/core';
import type { Json } from './normaliseRequest.ts';

/** Characters shown of a value, beginning shortly before the place where it differs. */
const SHOWN = 80;
const LEAD = 16;

export interface Difference {
  /** `documents[0].content`; empty for the value itself. */
  readonly path: string;
  readonly expected: string;
  readonly got: string;
}

/** The first place where two JSON values differ, or `null`. The order of an object's members is no difference. */
export function firstDifference(expected: Json, got: Json, path = ''): Difference | null {
  if (Array.isArray(expected) && Array.isArray(got)) {
    return firstOf(indexes(expected, got), (index) =>
      memberDifference(expected[index], got[index], `${path}[${index}]`),
    );
  }
  if (isObject(expected) && isObject(got)) {
    return firstOf(keys(expected, got), (key) =>
      memberDifference(expected[key], got[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return expected === got ? null : { path, ...excerpts(expected, got) };
}

function memberDifference(
  expected: Json | undefined,
  got: Json | undefined,
  path: string,
): Difference | null {
  if (expected !== undefined && got !== undefined) return firstDifference(expected, got, path);
  if (expected === got) return null;
  return { path, expected: excerpt(expected, 0), got: excerpt(got, 0) };
}

function firstOf<Item>(
  items: readonly Item[],
  compare: (item: Item) => Difference | null,
): Difference | null {
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

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function excerpts(expected: Json, got: Json): Pick<Difference, 'expected' | 'got'> {
  let same = 0;
  if (typeof expected === 'string' && typeof got === 'string') {
    while (same < expected.length && expected[same] === got[same]) same += 1;
  }
  return { expected: excerpt(expected, same), got: excerpt(got, same) };
}

function excerpt(value: Json | undefined, at: number): string {
  if (value === undefined) return 'nothing';
  if (typeof value !== 'string') return cut(maskSensitiveData(JSON.stringify(value)), 0);
  return JSON.stringify(cut(maskSensitiveData(value), at));
}

function cut(text: string, at: number): string {
  const from = at > SHOWN - LEAD ? at - LEAD : 0;
  const end = from + SHOWN;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`;
}
