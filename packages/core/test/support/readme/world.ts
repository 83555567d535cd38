import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { ScriptedModel } from '../../../src/engine/agent/__tests__/agent.ts';

/** What the agent of the README is given, and what it has done. */
export const done: string[] = [];

const calls = [
  { id: 'a', name: 'weather', args: { text: 'here' } },
  { id: 'b', name: 'send_mail', args: { text: 'It rains.' } },
];

export const model = new ScriptedModel([{ calls }, { text: 'Bob knows.' }], (index) =>
  done.push(`model ${index}`),
);

export const tools = ['weather', 'send_mail'].map((name) =>
  tool(({ text }: { text: string }) => void done.push(`${name} ${text}`), {
    name,
    description: name,
    schema: z.object({ text: z.string() }),
  }),
);
