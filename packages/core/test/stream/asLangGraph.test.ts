import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { programs } from '../programs/programs.ts';
import { howMany } from '../support/howMany.ts';
import { bySteps, type Streamed, streamedByLangGraph, streamedDurably } from './streamed.ts';

const all = Object.entries(programs).flatMap(([topic, each]) =>
  Object.entries(each)
    .map(([name, program]) => ({ topic, name, program }))
    .filter(({ program }) => program.changesInPlace !== true),
);

/** Programs that are streamed, others each time. */
const PROGRAMS = howMany('DEVS_STREAMED_PROGRAMS', 6);
const FIRST = Number(process.env['DEVS_STREAMED_FIRST'] ?? randomInt(all.length));
/** Far from a divisor of their number, so that a few are of every topic. */
const STRIDE = 7;

const chosen = [...all.keys()]
  .slice(0, PROGRAMS)
  .flatMap((at) => all[(FIRST + at * STRIDE) % all.length] ?? []);

/** Without the ids of tasks, which are others each time. */
const named = ({ ns, mode, data }: Streamed) => ({ ns, mode, data });

const root = mkdtempSync(join(tmpdir(), 'devs-streams-'));
afterAll(() => rmSync(root, { recursive: true }));

describe(`programs from ${FIRST} on, DEVS_STREAMED_FIRST=${FIRST}`, () => {
  test.each(chosen)(
    'stream what LangGraph alone streams: $topic, $name',
    async ({ topic, name, program }) => {
      const plain = await streamedByLangGraph(program, join(root, `${topic}-${name}-plain`));
      const own = await streamedDurably(program, join(root, `${topic}-${name}-own`));
      if (plain.isCut) expect(own.map(named)).toEqual(expect.arrayContaining(plain.chunks.map(named)));
      else expect(bySteps(own)).toStrictEqual(bySteps(plain.chunks));
    },
  );
});
