import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';
import { longText, sha256 } from '../texts.ts';

const Book = Annotation.Root({
  text: Annotation<string>(),
  chapters: Annotation<number>(),
  verdict: Annotation<string>(),
});

const CHAPTERS = 4;

/** Together large enough that each chapter is kept as a change of the text before it. */
const LINES = 130;

interface Verdict {
  readonly approved: boolean;
  readonly feedback?: string;
}

function open(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(Book)
    .addNode('write', async ({ text, chapters }) => {
      const chapter = await step('llm', ({ key }) =>
        ledger.call(`chapter ${chapters + 1}`, key, longText(`chapter ${chapters + 1}`, LINES)),
      );
      return { text: text + chapter, chapters: chapters + 1 };
    })
    .addNode('judge', async ({ text }) => {
      const blurb = await step('blurb', ({ key }) => ledger.call('blurb', key, text.slice(0, 8)));
      const { approved, feedback } = interrupt<object, Verdict>({ blurb, length: text.length });
      const word = await step('thanks', ({ key }) => ledger.call('thanks', key, 'Thank you'));
      return {
        verdict: `${word} for ${approved ? 'a yes' : 'a no'}: ${feedback} (${sha256(text).slice(0, 8)})`,
      };
    })
    .addEdge(START, 'write')
    .addConditionalEdges('write', ({ chapters }) => (chapters < CHAPTERS ? 'write' : 'judge'))
    .addEdge('judge', END);
  return ownRun(
    durable(builder, { file: stateFileIn(dir) }),
    { text: '', chapters: 0 },
    ({ verdict }) => verdict,
  );
}

/** Waits in a bare `interrupt()`, between two steps of its node, about a text that has grown. */
export const interrupted: StateFileKind = {
  since: '0.1.0-27306ef',
  make: (dir) => driveOnce(open(dir)),
  resume: (dir) => resumeRun(open(dir), { approved: false, feedback: 'too long' }),
  resumed: {
    answered: ['interrupt'],
    status: 'completed',
    outcome: 'Thank you for a no: too long (8de69d67)',
  },
  earlier: { '0.1.0-27306ef': { answered: ['node_gate'] } },
  calls: ['chapter 1', 'chapter 2', 'chapter 3', 'chapter 4', 'blurb', 'thanks'],
};
