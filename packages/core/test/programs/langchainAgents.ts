import { HumanMessage } from '@langchain/core/messages';
import {
  type AgentMiddleware,
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createAgent,
  humanInTheLoopMiddleware,
  modelCallLimitMiddleware,
  modelFallbackMiddleware,
  modelRetryMiddleware,
  summarizationMiddleware,
  todoListMiddleware,
  toolCallLimitMiddleware,
  toolRetryMiddleware,
} from 'langchain';
import { recordCalls } from '../../src/engine/agent/recordCalls.ts';
import { recordedModel } from '../../src/engine/agent/recordedModel.ts';
import { answered, asking, searching, sending, toolOf } from './agentTools.ts';
import type { Program, Programs } from './Program.ts';
import { type Asked, type Script, ScriptedChat, type Turn } from './ScriptedChat.ts';
import type { World } from './World.ts';

const input = { messages: [new HumanMessage({ id: 'input', content: 'main' })] };

const search = (what: string): Asked => ['search', { what }];
const send = (what: string): Asked => ['send', { what }];
const ask = (what: string): Asked => ['ask', { what }];
const find = (what: string): Asked => ['find', { what }];

/** A service that is down for a while. */
const finding = (world: World) =>
  toolOf('find', async (what) => {
    if (world.isDown(what, 2)) throw new Error(`No ${what} now.`);
    return await world.call(`find ${what}`);
  });

type Middlewares = (model: ScriptedChat, world: World) => readonly unknown[];

const agent = (turns: readonly Turn[], middlewares: Middlewares, fails = 0): Program => ({
  input,
  answer: answered,
  build: (world) => {
    const script: Script = { main: turns };
    const model = new ScriptedChat(world, script, fails);
    return createAgent({
      model,
      tools: [searching(world), sending(world), asking(world), finding(world)],
      middleware: middlewares(model, world) as AgentMiddleware[],
    });
  },
});

const ROUNDS: readonly Turn[] = [
  [search('one'), search('two')],
  [search('three')],
  [send('all')],
  [search('four')],
  'Done.',
];

const JUDGED: readonly Turn[] = [
  [send('bad news'), search('nothing')],
  [send('a dear gift'), search('beside'), send('a card')],
  [search('after'), ask('price')],
  [send('a note')],
  'Done.',
];

const FLAKY: readonly Turn[] = [[find('tea'), search('beside')], [find('cake')], 'Found.'];

/** The types of these options are lost in the installed versions' zod. */
const untyped = (options: object) => options as never;

const fast = { initialDelayMs: 1, jitter: false };
const reviewing = () => humanInTheLoopMiddleware(untyped({ interruptOn: { send: true } }));

export const langchainAgents: Programs = {
  'calls are recorded': agent(ROUNDS, () => [recordCalls()]),
  'calls are reviewed': agent(JUDGED, () => [reviewing(), recordCalls()]),
  'calls are reviewed, listed behind': agent(JUDGED, () => [recordCalls(), reviewing()]),
  'a talk is summed up': agent(ROUNDS, (model) => [
    summarizationMiddleware(
      untyped({ model: recordedModel(model), trigger: { messages: 4 }, keep: { messages: 2 } }),
    ),
    recordCalls(),
  ]),
  'a list of what is to do': agent(
    [
      [['write_todos', { todos: [{ content: 'look', status: 'in_progress' }] }]],
      [search('one')],
      [['write_todos', { todos: [{ content: 'look', status: 'completed' }] }]],
      'Done.',
    ],
    () => [todoListMiddleware(), recordCalls()],
  ),
  'old results of tools are cleared': {
    ...agent(ROUNDS, () => [
      contextEditingMiddleware({
        edits: [new ClearToolUsesEdit({ trigger: { tokens: 10 }, keep: { messages: 1 } })],
      }),
      recordCalls(),
    ]),
    changesInPlace: true,
  },
  'a model that fails is asked again': agent(
    ROUNDS,
    () => [modelRetryMiddleware({ maxRetries: 2, ...fast }), recordCalls()],
    1,
  ),
  'a model that fails is replaced': agent(
    ROUNDS,
    (_model, world) => [modelFallbackMiddleware(new ScriptedChat(world, { main: ROUNDS })), recordCalls()],
    1,
  ),
  'a tool that fails is called again, inside of the record': agent(FLAKY, () => [
    recordCalls(),
    toolRetryMiddleware({ maxRetries: 3, ...fast }),
  ]),
  'a tool that fails is called again, around the record': agent(FLAKY, () => [
    toolRetryMiddleware({ maxRetries: 3, ...fast }),
    recordCalls({ handleToolErrors: false }),
  ]),
  'a tool that fails is told of': agent(FLAKY, () => [recordCalls()]),
  'calls of the model are limited': agent(ROUNDS, () => [
    modelCallLimitMiddleware(untyped({ runLimit: 3, exitBehavior: 'end' })),
    recordCalls(),
  ]),
  'calls of a tool are limited': agent(ROUNDS, () => [
    toolCallLimitMiddleware(untyped({ toolName: 'search', runLimit: 2, exitBehavior: 'continue' })),
    recordCalls(),
  ]),
  'all of them': {
    ...agent(
      JUDGED,
      (model) => [
        todoListMiddleware(),
        summarizationMiddleware(
          untyped({ model: recordedModel(model), trigger: { messages: 6 }, keep: { messages: 3 } }),
        ),
        contextEditingMiddleware({
          edits: [new ClearToolUsesEdit({ trigger: { tokens: 10 }, keep: { messages: 1 } })],
        }),
        modelCallLimitMiddleware(untyped({ runLimit: 20 })),
        modelRetryMiddleware({ maxRetries: 2, ...fast }),
        reviewing(),
        recordCalls(),
        toolRetryMiddleware({ maxRetries: 3, ...fast }),
      ],
      1,
    ),
    changesInPlace: true,
  },
};
