import { describe, expect, it } from 'vitest';
import { isTestFile } from '../testSource.ts';

describe('isTestFile', () => {
  it.each([
    'test.js',
    'test-label.js',
    'src/test-label.mts',
    'src/a.test.ts',
    'src/a.spec.tsx',
    'a_test.go',
    'tests/test_a.py',
    'index.test-d.ts',
    'test/held.js',
    'src/__tests__/a.ts',
    'spec/a_spec.rb',
    'src/ATest.java',
    'a.bats',
  ])('%s', (path) => {
    expect(isTestFile(path)).toBe(true);
  });

  it.each([
    'index.js',
    'src/latest.js',
    'src/contest-a.js',
    'test-label.md',
    'test/fixtures/a.js',
    'test/support/b.ts',
    'testing.js',
  ])('but not %s', (path) => {
    expect(isTestFile(path)).toBe(false);
  });
});
