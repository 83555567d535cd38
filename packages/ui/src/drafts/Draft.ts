import { scrub } from '@devs/core';
import type { GateComment } from '@devs/core/internal';
import { z } from 'zod';

const draftText = z.string();

/** What a person has written at a gate and not sent; who wrote it and of what is no part of it. */
export const DRAFT = z.strictObject({
  /** When it was changed last, on the clock of the page: ms since the Unix epoch. */
  at: z.number(),
  words: draftText,
  comments: z
    .array(
      z.strictObject({
        in: draftText,
        quote: draftText,
        line: z.exactOptional(z.int().positive()),
        text: draftText,
      }),
    )
    .max(200),
  /** Further fields of the form by their name: a version of one's own, a value, a sum. */
  fields: z.record(draftText, draftText),
});

export interface Draft {
  readonly at: number;
  readonly words: string;
  readonly comments: readonly GateComment[];
  readonly fields: Readonly<Record<string, string>>;
}

const scrubbedText = (given: string): string => scrub(given).value;

/** As it would be recorded: a secret that was typed is nowhere on disk. */
export const maskedDraft = ({ at, words, comments, fields }: Draft): Draft => ({
  at,
  words: scrubbedText(words),
  comments: comments.map((each) => ({
    ...each,
    quote: scrubbedText(each.quote),
    text: scrubbedText(each.text),
  })),
  fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, scrubbedText(value)])),
});
