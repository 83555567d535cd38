// Drives one stage of an agent, and ends without closing it.
import type { AgentCall } from '@devs/core';
import { acpAgents } from '../../src/acp/acpAgents.ts';

const args = process.argv.slice(2);
const dir = args.at(-1) ?? '';
const program = { name: 'agent', argv: [process.execPath, ...args.slice(0, -1)] };
const agents = await acpAgents({ agent: program, sandbox: null });
const call: AgentCall = { idempotencyKey: 'k', signal: new AbortController().signal, usage: () => undefined };
const { summary } = await agents.implement(
  {
    task: { taskId: 'sum:1', name: 'Add', description: 'A sum.', acceptanceCriteria: [] },
    documents: [],
    attempt: 1,
    lastFailure: null,
    guidance: [],
    workspace: { dir, list: async () => [], read: async () => '' },
  },
  call,
);
process.stdout.write(summary);
