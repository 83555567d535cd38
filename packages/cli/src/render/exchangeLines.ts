import type { Gate, Run } from '@devs/core';
import { maskAtGate } from '@devs/core/internal';
import { type Line, linesAtGate } from '../terminal/Line.ts';

/** What was asked and answered at a gate; below what it shows, and no part of what its hash covers. */
export function exchangeLines(exchanges: Awaited<ReturnType<Run['exchanges']>>): readonly Line[] {
  if (exchanges.length === 0) return [];
  return [
    { style: 'bold', text: '── Questions and answers (not covered by the hash)' },
    ...exchanges.flatMap(({ question, answer, principal, answeredAt }) => [
      { style: 'dim' as const, text: `${principal} at ${answeredAt}:` },
      ...question.split('\n').map((line) => `> ${line}`),
      '',
      { style: 'markdown' as const, text: answer },
      '',
    ]),
  ];
}

/** What an agent answers at a gate, which hides there what a gate hides. */
export const answerAtGate = ({ sessionId }: Pick<Gate, 'sessionId'>, answer: string): readonly Line[] =>
  linesAtGate([{ style: 'markdown', text: maskAtGate(answer, { gate: sessionId }).view }]);
