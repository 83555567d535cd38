import type { TestCase } from '@devs/core';

/** Reads the cases of one kind of output, line by line; the lines have no colours. */
export interface CaseFormat {
  line(text: string): void;
  /** `null` where the output is of another kind. */
  cases(): readonly TestCase[] | null;
}
