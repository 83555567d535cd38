import { describe, expect, test } from 'vitest';
import { whySmall } from '../proposedSize.ts';

describe('a brief that may be one task', () => {
  test.each([
    ['Fix the crash on an empty file', 'a bug'],
    [`# limit() throws for 0\n\n${'It says so in the log. '.repeat(60)}`, 'a bug'],
    ['# Help\n\nThe help names every exit code.', 'a small change'],
    ['# Greet\n\n- `greet()` gives `Hello!`', 'a small change'],
  ])('%j is %s', (brief, why) => {
    expect(whySmall(brief)).toBe(why);
  });

  test.each([
    '# Greet\n\n- one\n- two',
    `# Export\n\n${'A table is exported as it is seen. '.repeat(12)}`,
    '# A\n\n## B\n\n## C\n\nSmall.',
    '# Migrate the store\n\nTo SQLite.',
    `Fix it\n\n${'x'.repeat(3_000)}`,
  ])('%j may be more', (brief) => {
    expect(whySmall(brief)).toBeNull();
  });
});
