// `pnpm bench:tokens [--quick] [--json]`: how much later than by plain LangGraph a model is asked, a reader has its first word,
// and the run has ended, interleaved in one process. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../src/engine/app/durable.ts';
import { median, percentile, round, table } from './state/figures.ts';

const isQuick = process.argv.includes('--quick');
const json = process.argv.includes('--json');
/** On a busy machine a round takes seconds: there are fewer of them then, and the table says how many. */
const LIMITS = isQuick ? { rounds: 30, ms: 20_000 } : { rounds: 300, ms: 200_000 };
const WARM_UP = 5;
const folder = mkdtempSync(join(tmpdir(), 'devs-tokens-'));

const State = Annotation.Root({ said: Annotation<string>() });
const model = new FakeListChatModel({ responses: ['The tea.'], sleep: 1 });

/** Milliseconds: by the clock, and of this process's processor, which other processes do not lengthen. */
interface Moment {
  readonly clock: number;
  readonly cpu: number;
}

function now(): Moment {
  const { user, system } = process.cpuUsage();
  return { clock: performance.now(), cpu: (user + system) / 1000 };
}

let asked = now();
const builder = new StateGraph(State)
  .addNode('ask', async () => {
    asked = now();
    return { said: (await model.invoke([new HumanMessage('Say it.')])).text };
  })
  .addEdge(START, 'ask')
  .addEdge('ask', END);

const plain = builder.compile({ checkpointer: new MemorySaver() });
const app = durable(builder, { file: join(folder, 'state.sqlite') });

const WHAT = {
  asked: 'the model is asked, from the start of the run',
  word: 'the first word, from when the model is asked',
  end: 'the end of the run, from its start',
} as const;
type What = keyof typeof WHAT;
const WHATS = Object.keys(WHAT) as What[];
type Times = Readonly<Record<What, Moment>>;

const since = (from: Moment, to: Moment): Moment => ({
  clock: to.clock - from.clock,
  cpu: to.cpu - from.cpu,
});

async function timed(texts: AsyncIterable<string>): Promise<Times> {
  const begun = now();
  let said = '';
  let word: Moment | undefined;
  for await (const text of texts) {
    said += text;
    if (word === undefined && said.includes(' ')) word = since(asked, now());
  }
  if (word === undefined) throw new Error(`The model was heard to say "${said}".`);
  return { asked: since(begun, asked), word, end: since(begun, now()) };
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
const stopAt = performance.now() + LIMITS.ms;
for (let at = 0; at < WARM_UP + LIMITS.rounds && performance.now() < stopAt; at += 1) {
  const first = await timed(at % 2 === 0 ? byLangGraph(`run-${at}`) : durably(`run-${at}`));
  const second = await timed(at % 2 === 0 ? durably(`run-${at}`) : byLangGraph(`run-${at}`));
  const [plainly, own] = at % 2 === 0 ? [first, second] : [second, first];
  if (at < WARM_UP) continue;
  took.push({ plain: plainly, own });
  later.push({
    asked: since(plainly.asked, own.asked),
    word: since(plainly.word, own.word),
    end: since(plainly.end, own.end),
  });
}
app.close();
rmSync(folder, { recursive: true });

const figures = WHATS.map((what) => {
  const clocks = later.map((times) => times[what].clock);
  return {
    what: WHAT[what],
    plainMs: round(median(took.map(({ plain }) => plain[what].clock))),
    durableMs: round(median(took.map(({ own }) => own[what].clock))),
    laterMs: round(median(clocks)),
    quarterMs: round(percentile(clocks, 0.25)),
    threeQuartersMs: round(percentile(clocks, 0.75)),
    laterCpuMs: round(median(later.map((times) => times[what].cpu))),
  };
});
const machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  node: process.version,
  load: round(loadavg()[0] ?? Number.NaN, 1),
};
const rounds = later.length;
if (json) console.log(JSON.stringify({ machine, rounds, figures }));
else {
  const rows = figures.map((it) => [
    it.what,
    it.plainMs,
    it.durableMs,
    it.laterMs,
    `${it.quarterMs}–${it.threeQuartersMs}`,
    it.laterCpuMs,
  ]);
  const head = [
    'until',
    'LangGraph alone, ms',
    'durable, ms',
    'later, ms',
    'middle half',
    'later, ms of processor',
  ];
  console.log(table(head, rows));
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, load ${machine.load}, Node ${machine.node}, ${rounds} rounds`,
  );
}
