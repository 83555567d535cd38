// Drives one stage of an agent, and ends without closing it.
import type { AgentCall } from '@devs/core';
import { acpAgents } from '../../src/acp/acpAgents.ts';

const [file = '', dir = '', log = '', mode = 'polite'] = process.argv.slice(2);
const program = { name: 'agent', argv: [process.execPath, file, mode, log] };
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
