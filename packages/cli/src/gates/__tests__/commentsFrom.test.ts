import type { Run } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { commentsFrom } from '../commentsFrom.ts';

type ShownPlace = Awaited<ReturnType<Run['quotableSections']>>[number];

const PLACES: readonly ShownPlace[] = [
  { names: ['PRD', 'shop/PRD'], texts: ['A table is\nexported as UTF-8.\n'] },
  { names: ['TAS', 'shop/TAS'], texts: ['Two tables.\nUTF-8.\npay\u202Eeve\nTwo tables.\nmap((a) => a)\n'] },
  { names: ['src/a.ts'], texts: ['now\n', 'before\n'] },
];

const from = (typed: string) => commentsFrom([typed], { sessionId: '3f2a91c0-1' }, PLACES)[0];

describe('a comment as it is typed', () => {
  test.for([
    ['table is exported => Why?', { in: 'PRD', quote: 'table is\nexported', line: 1, text: 'Why?' }],
    ['TAS: UTF-8 => Which?', { in: 'TAS', quote: 'UTF-8', line: 2, text: 'Which?' }],
    ['shop/PRD:2: UTF-8 => Which?', { in: 'PRD', quote: 'UTF-8', line: 2, text: 'Which?' }],
    ['Two tables. => Why not one?', { in: 'TAS', quote: 'Two tables.', text: 'Why not one?' }],
    ['TAS:4:Two tables. => One.', { in: 'TAS', quote: 'Two tables.', line: 4, text: 'One.' }],
    ['map((a) => a) => identity', { in: 'TAS', quote: 'map((a) => a)', line: 5, text: 'identity' }],
    ['Two tables. => a => b', { in: 'TAS', quote: 'Two tables.', text: 'a => b' }],
    ['pay⟨U+202E⟩eve => Hidden.', { in: 'TAS', quote: 'pay\u202Eeve', line: 3, text: 'Hidden.' }],
    ['src/a.ts: before => Why gone?', { in: 'src/a.ts', quote: 'before', line: 1, text: 'Why gone?' }],
  ] as const)('%s', ([typed, comment]) => {
    expect(from(typed)).toEqual(comment);
  });

  test.for([
    ['UTF-8 => Which?', 'CONFIG_INVALID', "--comment 'PRD: UTF-8 => …'"],
    ['no arrow', 'CONFIG_INVALID', 'QUOTE => TEXT'],
    ['UTF-8 => ', 'CONFIG_INVALID', 'QUOTE => TEXT'],
    ['Three tables. => Why?', 'QUOTE_NOT_SHOWN', 'devs show 3f2a91c0 --full'],
    ['TAS:1: UTF-8 => Why?', 'QUOTE_NOT_SHOWN', 'devs show'],
    ['TAS: => Why?', 'QUOTE_NOT_SHOWN', 'devs show'],
    ['.* => Why?', 'QUOTE_NOT_SHOWN', 'devs show'],
  ] as const)('%s is refused', ([typed, code, remedy]) => {
    expect(() => from(typed)).toThrow(
      expect.objectContaining({ code, remedy: expect.stringContaining(remedy) }),
    );
  });
});
