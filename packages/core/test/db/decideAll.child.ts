// When told to, decides every gate it finds open, and says which of its decisions counted and whose did instead.
import { createInterface } from 'node:readline';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';
import { HumanInTheLoopManager } from '../../src/orchestration/hitl.ts';

const [, , dbPath = '', name = '', artifactHash = ''] = process.argv;
// As in increment.child.ts: nobody pauses between two decisions.
const manager = new HumanInTheLoopManager(createDatabase({ dbPath, busyTimeoutMs: 60_000 }));
const ids = manager.listPendingSessions().map(({ id }) => id);
const tell = (message: unknown): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

function winnerOf(id: string): string {
  const by = { kind: 'human', id: name } as const;
  try {
    manager.decide(id, { artifactHash, answer: { approved: true }, by });
    return 'me';
  } catch (error) {
    return isDevsError(error, 'GATE_ALREADY_DECIDED') ? String(error.context['principal']) : String(error);
  }
}

tell('ready');
for await (const _ of createInterface({ input: process.stdin })) {
  tell(Object.fromEntries(ids.map((id) => [id, winnerOf(id)])));
}
