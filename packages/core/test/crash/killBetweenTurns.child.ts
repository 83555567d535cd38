// Saves a Thought, then dies with no handler, no flush and no close.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { CheckpointPersister } from '../../src/state/CheckpointPersister.ts';

const [dbPath = ''] = process.argv.slice(2);
const turns = new CheckpointPersister(createDatabase({ dbPath }));
const turn = {
  graphId: 'graph-1',
  nodeName: 'implement',
  state: { plan: 'x'.repeat(20_000) },
  taskId: 'task-1',
  createdAt: new Date('2026-01-01T00:00:00.000Z'),
};
turns.save({ ...turn, id: 'thought', turnType: 'Thought' });
process.kill(process.pid, 'SIGKILL');
turns.save({ ...turn, id: 'action', turnType: 'Action' });
