import { type AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import type { Database } from 'better-sqlite3';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { type Said, ScriptedModel } from '../../../src/engine/agent/__tests__/agent.ts';
import { recordCalls } from '../../../src/engine/agent/recordCalls.ts';
import { internalsOf } from '../../../src/engine/file/appInternals.ts';
import type { Effect, Process, Scenario } from './Scenario.ts';

const TOOLS = ['search', 'mail', 'pay', 'broken'] as const;

const SCRIPT: readonly Said[] = [
  { text: 'I look.', calls: TOOLS.map((name) => ({ id: `call-${name}`, name, args: { q: 'bob' } })) },
  { text: 'Once more.', calls: [{ id: 'call-again', name: 'search', args: { q: 'eve' } }] },
  { text: 'All is said and done.' },
];

const INPUT = { messages: [new HumanMessage({ id: 'question', content: 'Tell bob.' })] };
const ada = { kind: 'human', id: 'ada' } as const;

/** Whether the result of a call is in the file already; that of a call in flight at a death is not. */
function isRecorded(db: Database, run: string, name: string, before: number): boolean {
  const done = db
    .prepare("SELECT count(*) FROM agent_steps WHERE thread_id = ? AND name = ? AND state = 'done'")
    .pluck()
    .get(run, name);
  return Number(done) > before;
}

/** An agent with four tools; one of them throws. Its effects name a call that was recorded before. */
function agentOf({ db, effect }: Process, run: string) {
  const makes = (name: string, key: string, before = 0): void =>
    effect(isRecorded(db, run, name, before) ? `${name} again` : name, key);
  const does = (name: (typeof TOOLS)[number]) =>
    tool(
      ({ q }: { q: string }, { toolCallId }: { toolCallId: string }) => {
        makes(`${name} ${toolCallId}`, toolCallId);
        if (name === 'broken') throw new Error('no such place');
        return `${name}: ${q}`;
      },
      { name, schema: z.object({ q: z.string() }) },
    );
  return createAgent({
    model: new ScriptedModel(SCRIPT, (index) => makes('model', `${index}`, index)),
    tools: TOOLS.map(does),
    middleware: [recordCalls({ gates: { mail: true, pay: true } })],
  });
}

const appOf = (process: Process, run: string) => process.durable(agentOf(process, run), { db: process.db });

const ANSWERS = { mail: { edit: { q: 'ann' } }, pay: { approved: false, feedback: 'Too much.' } } as const;

/** Streams and answers until the run has ended. */
async function live(process: Process, run: string): Promise<unknown> {
  const app = appOf(process, run);
  let isKnown = internalsOf(app).store.threads.get(run) !== null;
  for (let drives = 0; drives < 4; drives += 1) {
    let end: string | null = null;
    const streamed = app.stream(run, isKnown ? undefined : INPUT, { streamMode: ['messages', 'updates'] });
    for await (const event of streamed) if (event.mode === 'end') end = event.status;
    isKnown = true;
    const { status, values, gates } = await app.run(run);
    if (status === 'completed')
      return { end: end ?? status, said: saidIn(values), told: await toldBy(app, run) };
    for (const gate of gates) {
      const { tool: name } = gate.artifact as { readonly tool: keyof typeof ANSWERS };
      await app.decide(gate, { ...ANSWERS[name], by: ada });
    }
  }
  throw new Error('The run does not end.');
}

const saidIn = (values: unknown): readonly string[] =>
  (values as { readonly messages: readonly AIMessage[] }).messages.map(
    ({ type, text, tool_calls: calls = [] }) =>
      [type, text, ...calls.map(({ name }) => name)].join(' ').trim(),
  );

/** The nodes of the recorded stream, without the order of those side by side. */
async function toldBy(app: ReturnType<typeof appOf>, run: string): Promise<readonly string[]> {
  const told: string[] = [];
  for await (const event of app.stream(run, null, { after: 0, streamMode: ['updates'] }))
    told.push(event.mode === 'updates' ? Object.keys(event.data).join() : event.mode);
  return told.toSorted();
}

/** The effects, once each. A call that was made in spite of its recorded result has another name. */
function callsIn(effects: readonly Effect[]): readonly string[] {
  return [...new Set(effects.map(({ what, key }) => `${what}, ${key}`))].toSorted();
}

export const agent: Scenario = {
  what: 'an agent whose calls are recorded',
  deaths: { atWrites: 3, byKill: 1 },
  start: (process) => (run) => live(process, run),
  expected: () => ({
    outcome: {
      end: 'completed',
      said: [
        'human Tell bob.',
        'ai I look. search mail pay broken',
        'tool search: bob',
        'tool mail: ann',
        'tool Too much.',
        'tool Error: no such place\n Please fix your mistakes.',
        'ai Once more. search',
        'tool search: eve',
        'ai All is said and done.',
      ],
      told: [
        'end',
        'gate',
        'gate',
        ...['model_request', 'model_request', 'model_request'],
        ...['tools', 'tools', 'tools', 'tools', 'tools'],
      ],
    },
    inFile: { steps: 7, gates: 2 },
    outside: [
      'broken call-broken, call-broken',
      'mail call-mail, call-mail',
      'model, 0',
      'model, 1',
      'model, 2',
      'search call-again, call-again',
      'search call-search, call-search',
    ],
  }),
  inFile: ({ db }, run) => ({
    steps: db
      .prepare("SELECT count(*) FROM agent_steps WHERE thread_id = ? AND state = 'done'")
      .pluck()
      .get(run),
    gates: db.prepare('SELECT count(*) FROM hitl_sessions WHERE thread_id = ?').pluck().get(run),
  }),
  outside: callsIn,
};
