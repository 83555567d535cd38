// `pnpm bench:tokens [--quick] [--json]`: how much later than by plain LangGraph a reader has the first word of a model, from
// when the model is asked, and the end of the run, interleaved in one process. See docs/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../src/engine/durable.ts';
import { median, percentile, round, table } from './state/figures.ts';

const rounds = process.argv.includes('--quick') ? 30 : 300;
const json = process.argv.includes('--json');
const WARM_UP = 5;
const folder = mkdtempSync(join(tmpdir(), 'devs-tokens-'));

const State = Annotation.Root({ said: Annotation<string>() });
const model = new FakeListChatModel({ responses: ['The tea is ready to be poured.'], sleep: 1 });
let askedAt = Number.NaN;
const builder = new StateGraph(State)
  .addNode('ask', async () => {
    askedAt = performance.now();
    return { said: (await model.invoke([new HumanMessage('Say it.')])).text };
  })
  .addEdge(START, 'ask')
  .addEdge('ask', END);

const plain = builder.compile({ checkpointer: new MemorySaver() });
const app = durable(builder, { file: join(folder, 'state.sqlite') });

/** Milliseconds. */
interface Times {
  /** Since the model was asked. */
  readonly word: number;
  /** Since the run was begun. */
  readonly end: number;
}

async function timed(texts: AsyncIterable<string>): Promise<Times> {
  const begun = performance.now();
  let said = '';
  let word = Number.NaN;
  for await (const text of texts) {
    said += text;
    if (Number.isNaN(word) && said.includes(' ')) word = performance.now() - askedAt;
  }
  return { word, end: performance.now() - begun };
}

async function* byLangGraph(id: string): AsyncGenerator<string> {
  const config = { configurable: { thread_id: id }, streamMode: 'messages' } as const;
  for await (const [message] of await plain.stream({}, config)) yield (message as BaseMessage).text;
}

async function* durably(id: string): AsyncGenerator<string> {
  for await (const event of app.stream(id, {}, { streamMode: 'messages' })) {
    if (event.mode === 'messages') yield event.data;
  }
}

const later: Times[] = [];
const took: { readonly plain: Times; readonly own: Times }[] = [];
for (let at = 0; at < WARM_UP + rounds; at += 1) {
  const first = await timed(at % 2 === 0 ? byLangGraph(`run-${at}`) : durably(`run-${at}`));
  const second = await timed(at % 2 === 0 ? durably(`run-${at}`) : byLangGraph(`run-${at}`));
  const [theirs, own] = at % 2 === 0 ? [first, second] : [second, first];
  if (at < WARM_UP) continue;
  took.push({ plain: theirs, own });
  later.push({ word: own.word - theirs.word, end: own.end - theirs.end });
}
app.close();
rmSync(folder, { recursive: true });

const figures = (['word', 'end'] as const).map((what) => ({
  what: what === 'word' ? 'the first word' : 'the end of the run',
  plainMs: round(median(took.map((times) => times.plain[what]))),
  durableMs: round(median(took.map(({ own }) => own[what]))),
  laterMs: round(median(later.map((times) => times[what]))),
  quarterMs: round(
    percentile(
      later.map((times) => times[what]),
      0.25,
    ),
  ),
  threeQuartersMs: round(
    percentile(
      later.map((times) => times[what]),
      0.75,
    ),
  ),
}));
const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
if (json) console.log(JSON.stringify({ machine, rounds, figures }));
else {
  const rows = figures.map((it) => [
    it.what,
    it.plainMs,
    it.durableMs,
    it.laterMs,
    `${it.quarterMs}–${it.threeQuartersMs}`,
  ]);
  console.log(table(['until', 'LangGraph alone, ms', 'durable, ms', 'later, ms', 'middle half'], rows));
  console.log(`\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${rounds} rounds`);
}
