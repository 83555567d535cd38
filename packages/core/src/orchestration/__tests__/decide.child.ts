// Decides every session it is given when told to, and says for each how that ended.
import { createInterface } from 'node:readline';
import { createDatabase } from '../../db/createDatabase.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { HumanInTheLoopManager } from '../hitl.ts';

const [, , dbPath = '', name = '', artifactHash = '', ...ids] = process.argv;
const manager = new HumanInTheLoopManager(createDatabase({ dbPath }));
const tell = (message: unknown): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

function decide(id: string): string {
  const feedback = `says ${name}`;
  try {
    manager.decide(id, {
      artifactHash,
      answer: { approved: false, feedback },
      by: { kind: 'human', id: name },
    });
    return 'decided';
  } catch (error) {
    if (!isDevsError(error, 'GATE_ALREADY_DECIDED')) return String(error);
    return String(error.context['principal']);
  }
}

tell('ready');
for await (const _ of createInterface({ input: process.stdin })) tell(ids.map(decide));
