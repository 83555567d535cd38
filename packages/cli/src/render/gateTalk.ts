// Questions, answers and comments at a gate, beside its decision and outside of its hash.
import type { Gate, Run } from '@devs/core';
import { type GateComment, type LastComment, maskAtGate } from '@devs/core/internal';
import { type Line, linesAtGate } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';

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

const SINCE: Readonly<Record<LastComment['since'], string>> = {
  unchanged: 'unchanged',
  changed: 'changed since',
  gone: 'deleted since',
  unknown: 'unknown: the code cannot be read here',
};

/** What was said of the version before, and whether what it quotes is another text now; no part of what the hash covers. */
export function lastCommentLines(comments: readonly LastComment[]): readonly Line[] {
  if (comments.length === 0) return [];
  return [
    { style: 'bold', text: '── Comments on the previous version (not covered by the hash)' },
    ...comments.flatMap((comment): readonly Line[] => [
      { style: 'dim', text: `${formatLocation(comment)}: ${SINCE[comment.since]}` },
      ...quoteLines(comment),
      ...`${comment.by}: ${comment.text}`.split('\n'),
      '',
    ]),
  ];
}

/** Comments of a decision, below its other members. */
export function commentLines(comments: readonly GateComment[]): readonly string[] {
  return comments.flatMap((comment) => [
    `  on ${formatLocation(comment)}:`,
    ...quoteLines(comment).map((line) => `    ${line}`),
    ...comment.text.split('\n').map((line) => `    ${line}`),
  ]);
}

const quoteLines = ({ quote }: GateComment): readonly string[] =>
  quote
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`);

function formatLocation({ in: place, line }: GateComment): string {
  const name = place === '' ? 'the gate' : oneLine(place);
  return line === undefined ? name : `${name}, line ${line}`;
}
