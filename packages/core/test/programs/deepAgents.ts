import { HumanMessage } from '@langchain/core/messages';
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import {
  CompositeBackend,
  createDeepAgent,
  createSummarizationMiddleware,
  GENERAL_PURPOSE_SUBAGENT,
  StateBackend,
  StoreBackend,
} from 'deepagents';
import { recordCalls, recordedSubagents } from '../../src/engine/agent/recordCalls.ts';
import { recordedModel } from '../../src/engine/agent/recordedModel.ts';
import { answered, asking, looking, searching, sending } from './agentTools.ts';
import type { Program, Programs } from './Program.ts';
import { type Asked, type Script, ScriptedChat } from './ScriptedChat.ts';
import type { World } from './World.ts';

const input = { messages: [new HumanMessage({ id: 'input', content: 'main' })] };

const task = (subagent_type: string, description: string): Asked => ['task', { subagent_type, description }];
const write = (file_path: string, content: string): Asked => ['write_file', { file_path, content }];
const read = (file_path: string): Asked => ['read_file', { file_path }];
const edit = (file_path: string, old_string: string, new_string: string): Asked => [
  'edit_file',
  { file_path, old_string, new_string },
];
const todos = (...contents: readonly string[]): Asked => [
  'write_todos',
  { todos: contents.map((content) => ({ content, status: 'pending' })) },
];
const search = (what: string): Asked => ['search', { what }];
const send = (what: string): Asked => ['send', { what }];
const ask = (what: string): Asked => ['ask', { what }];

type Options = NonNullable<Parameters<typeof createDeepAgent>[0]>;

const deep = (script: Script, options: (world: World, model: ScriptedChat) => object): Program => ({
  input,
  answer: answered,
  build: (world) => {
    const model = new ScriptedChat(world, script);
    return createDeepAgent({ model, ...options(world, model) } as Options);
  },
});

const toolsOf = (world: World) => [searching(world), sending(world), asking(world)];

/** A subagent with all tools. */
const subagent = (world: World, name: string, options: object = {}) => ({
  name,
  description: name,
  systemPrompt: `You are the ${name}.`,
  tools: toolsOf(world),
  ...options,
});

const recorded = (world: World, ...subagents: readonly object[]) => ({
  tools: toolsOf(world),
  middleware: [recordCalls()],
  subagents: recordedSubagents(subagents),
});

const FILES: Script = {
  main: [
    [todos('look', 'write')],
    [search('tea'), write('/tea.md', 'green\nblack')],
    [edit('/tea.md', 'black', 'white'), ['ls', { path: '/' }]],
    [read('/tea.md'), ['grep', { pattern: 'white', path: '/' }]],
    'Written.',
  ],
};

const WRITER: Script = {
  main: [[task('writer', 'write it')], [read('/draft.md')], 'Read.'],
  'write it': [[search('facts'), write('/draft.md', 'a draft')], [send('the draft')], 'The draft is there.'],
};

/** Two in parallel, the first of which asks; then three more answers of the model. */
const TWO: Script = {
  main: [
    [task('sender', 'send it'), task('searcher', 'search it')],
    [search('after')],
    [search('later')],
    'Done.',
  ],
  'send it': [[search('address')], [send('a mail')], [search('receipt')], [search('more')], 'Sent.'],
  'search it': [[search('one')], [search('two'), write('/found.md', 'two')], 'Found.'],
};

const BOTH: Script = {
  main: [[task('sender', 'send it'), task('asker', 'ask it'), search('beside')], [search('after')], 'Done.'],
  'send it': [[send('a mail'), search('beside it')], 'Sent.'],
  'ask it': [[search('who'), ask('price')], [ask('place')], 'Asked.'],
};

const both = (world: World) =>
  recorded(world, subagent(world, 'sender', { interruptOn: { send: true } }), subagent(world, 'asker'));

/** A rejected call, one with other arguments and one that is approved, by the agent and by its subagent. */
const JUDGED: Script = {
  main: [
    [send('bad news'), search('nothing')],
    [send('a dear gift'), send('a card'), search('beside')],
    [task('sender', 'send it')],
    'Done.',
  ],
  'send it': [[send('a bad letter')], [send('a dear letter')], 'Sent.'],
};

const NESTED: Script = {
  main: [[search('first'), task('head', 'lead it')], [search('last')], 'Done.'],
  'lead it': [
    [search('at the top'), task('hand', 'do it'), task('other', 'see it')],
    [read('/done.md')],
    'Led.',
  ],
  'do it': [[search('below')], [send('the work'), write('/done.md', 'by hand')], 'It is done.'],
  'see it': [[search('beside')], 'Seen.'],
};

const nested = (world: World, model: ScriptedChat) => {
  const sends = subagent(world, 'hand', { interruptOn: { send: true } });
  const inner = createDeepAgent({ model, ...recorded(world, sends, subagent(world, 'other')) } as Options);
  return recorded(world, { name: 'head', description: 'leads', runnable: inner });
};

const MEMORIES: Script = {
  main: [
    [write('/notes.md', 'today'), write('/memories/tea.md', 'likes green')],
    [edit('/memories/tea.md', 'green', 'white'), task('writer', 'write it')],
    [read('/memories/tea.md'), read('/memories/more.md'), ['ls', { path: '/memories/' }]],
    'Remembered.',
  ],
  'write it': [[search('tea')], [write('/memories/more.md', 'and cake')], 'Written.'],
};

const STORED: Script = {
  main: [[write('/a.md', 'one')], [edit('/a.md', 'one', 'two'), search('it')], [read('/a.md')], 'Kept.'],
};

/** A graph by hand as a subagent: its question is in a node. */
const reviewer = (world: World) =>
  new StateGraph(MessagesAnnotation)
    .addNode('look', async () => {
      await looking(world, 'the draft');
      return {};
    })
    .addNode('review', async () => {
      const said = interrupt<object, string>({ review: 'the draft' });
      return { messages: [{ role: 'assistant', id: 'reviewed', content: said }] };
    })
    .addEdge(START, 'look')
    .addEdge('look', 'review')
    .addEdge('review', END)
    .compile();

const REVIEWED: Script = { main: [[task('reviewer', 'review it'), search('beside')], 'Reviewed.'] };

const GENERAL: Script = {
  main: [[task('general-purpose', 'do it'), task('general-purpose', 'do more')], [read('/done.md')], 'Done.'],
  'do it': [[search('it'), write('/done.md', 'it')], [send('it')], 'It is done.'],
  'do more': [[search('more')], 'More is done.'],
};

const LONG: Script = {
  main: [[search('one')], [search('two')], [search('three')], [send('all')], 'Summed up.'],
};

export const deepAgents: Programs = {
  'todos and files': deep(FILES, (world) => ({ tools: toolsOf(world) })),
  'todos and files, calls recorded': deep(FILES, (world) => recorded(world)),
  'a subagent writes files': deep(WRITER, (world) => recorded(world, subagent(world, 'writer'))),
  'one of two subagents asks': deep(TWO, (world) =>
    recorded(world, subagent(world, 'sender', { interruptOn: { send: true } }), subagent(world, 'searcher')),
  ),
  'one of two subagents asks, calls not recorded': deep(TWO, (world) => ({
    tools: toolsOf(world),
    subagents: [subagent(world, 'sender', { interruptOn: { send: true } }), subagent(world, 'searcher')],
  })),
  'two subagents ask': deep(BOTH, both),
  'two subagents ask, answered one by one': { ...deep(BOTH, both), oneByOne: true },
  'calls that are rejected, edited and approved': deep(JUDGED, (world) => ({
    ...recorded(world, subagent(world, 'sender')),
    interruptOn: { send: true },
  })),
  'a subagent of a subagent asks': deep(NESTED, nested),
  'memories in the store, files in the state': deep(MEMORIES, (world) => ({
    ...recorded(world, subagent(world, 'writer')),
    backend: new CompositeBackend(new StateBackend(), { '/memories/': new StoreBackend() }),
  })),
  'all files in the store': deep(STORED, (world) => ({ ...recorded(world), backend: new StoreBackend() })),
  'a graph by hand is a subagent that asks': deep(REVIEWED, (world) =>
    recorded(world, { name: 'reviewer', description: 'reviews', runnable: reviewer(world) }),
  ),
  'subagents for all purposes ask': deep(GENERAL, (world) => ({
    ...recorded(world, GENERAL_PURPOSE_SUBAGENT),
    interruptOn: { send: true },
  })),
  'subagents for all purposes that are not declared': deep(GENERAL, (world) => ({
    ...recorded(world),
    interruptOn: { send: true },
  })),
  'a long talk is summed up in a file': deep(LONG, (world, model) => ({
    model: recordedModel(model),
    tools: toolsOf(world),
    middleware: [
      createSummarizationMiddleware({
        model: recordedModel(model),
        backend: new StateBackend(),
        trigger: { type: 'messages', value: 4 },
        keep: { type: 'messages', value: 2 },
      }),
      recordCalls(),
    ],
    interruptOn: { send: true },
  })),
};
