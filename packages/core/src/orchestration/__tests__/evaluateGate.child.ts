// Evaluates one task above the threshold when told to, and says which session it got. Of the engine alone: eight of it
// start at once.
import { createInterface } from 'node:readline';
import { createDatabase } from '../../db/createDatabase.ts';
import { HumanInTheLoopManager } from '../../engine/gates/HumanInTheLoopManager.ts';
import { TaskFailureGate } from '../../engine/gates/TaskFailureGate.ts';

const [, , dbPath = '', taskId = ''] = process.argv;
const db = createDatabase({ dbPath });
const gate = new TaskFailureGate({ db, manager: new HumanInTheLoopManager(db) });
const tell = (message: unknown): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

tell('ready');
for await (const _ of createInterface({ input: process.stdin })) {
  tell(await gate.evaluate({ taskId, entropyScore: 0.9 }));
}
