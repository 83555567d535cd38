// Keeps one agent idle and is kept waiting by another. Arguments: the folder they work in, their program, where they write
// their ids.
import type { AgentCall, TaskRequest } from '@devs/core';
import { acpAgents } from '../../src/acp/acpAgents.ts';

const [dir = '', file = '', log = ''] = process.argv.slice(2);
const call: AgentCall = { idempotencyKey: 'k', signal: new AbortController().signal, usage: () => undefined };
const request: TaskRequest = {
  task: { taskId: 'sum:1', name: 'Add', description: 'A sum.', acceptanceCriteria: [] },
  documents: [],
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: { dir, list: async () => [], read: async () => '' },
};
for (const mode of ['work', 'polite']) {
  const agent = { name: mode, argv: [process.execPath, file, mode, log] };
  await (await acpAgents({ agent, sandbox: null })).implement(request, call);
}
