import { describe, expect, test } from 'vitest';
import { errorFingerprint } from '../../engine/entropy/errorFingerprint.ts';
import { countConsecutiveErrors } from '../robustness/errorNode.ts';
import { buildErrorRecord } from '../robustness.ts';

describe('errorFingerprint', () => {
  test.each([
    ['connect ECONNREFUSED 127.0.0.1:41873', 'connect ECONNREFUSED 127.0.0.1:35021'],
    ['Timed out after 1203 ms', 'Timed out after 998.5 ms'],
    ['/tmp/a1/src/x.ts:12:3 - expected 2', '/var/tmp/b2/src/x.ts:14:9 - expected 2'],
    ['Run 6f1c9a52-0f6f-4d8e-9b1f-2f8f0a3f6d11 failed', 'Run 0f6f9a52-6f1c-4d8e-9b1f-2f8f0a3f6d22 failed'],
    ['commit 3f2a91c is not there', 'commit 9e8d7c6 is not there'],
    ['at 2026-01-01T10:00:00.123Z it stopped', 'at 2026-02-03T11:22:33Z it stopped'],
    ['SyntaxError at line 12', 'SyntaxError at line 340'],
  ])('is the same for %j and %j', (one, other) => {
    expect(errorFingerprint(one)).toBe(errorFingerprint(other));
  });

  test.each([
    ['Exit code 1', 'Exit code 2'],
    ['expected 3 rows, got 4', 'expected 3 rows, got 5'],
    ['x is not defined', 'y is not defined'],
  ])('tells %j from %j', (one, other) => {
    expect(errorFingerprint(one)).not.toBe(errorFingerprint(other));
  });

  test('counts occurrences that differ by accident as one error, and keeps the text for people', () => {
    const history = [1, 2].map((port) =>
      buildErrorRecord(new Error(`refused :500${port}`), 'implement', 't', port),
    );
    expect(history.map(({ message }) => message)).toEqual(['refused :5001', 'refused :5002']);
    expect(countConsecutiveErrors(history, 'refused :5003', 't')).toBe(3);
  });
});
