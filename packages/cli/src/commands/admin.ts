import type { Command, CommandOptions } from 'commander';
import { examples, type Start } from '../project/Start.ts';
import { addAcceptGraph } from './admin/acceptGraph.ts';
import { addAdopt } from './admin/adopt.ts';
import { addBackup } from './admin/backup.ts';
import { addCancel } from './admin/cancel.ts';
import { addChaos } from './admin/chaos.ts';
import { addDoctor } from './admin/doctor.ts';
import { addExplain } from './admin/explain.ts';
import { addGc } from './admin/gc.ts';
import { addPause } from './admin/pause.ts';
import { addPrune } from './admin/prune.ts';
import { addRevive } from './admin/revive.ts';
import { addRewind } from './admin/rewind.ts';
import { addSync } from './admin/sync.ts';
import { addAnswer } from './answer.ts';
import { addGates } from './gates.ts';

type AddVerb = (program: Command, start: Start, options?: CommandOptions) => void;

const VERBS: readonly AddVerb[] = [
  addGates,
  addAnswer,
  addPause,
  addCancel,
  addExplain,
  addAdopt,
  addSync,
  addRewind,
  addRevive,
  addAcceptGraph,
  addDoctor,
  addBackup,
  addPrune,
  addGc,
  addChaos,
];

/** What is not needed every day. Each verb also works without `admin`; help lists it here. */
export function addAdmin(program: Command, start: Start): void {
  const admin = program
    .command('admin')
    .description(
      'what is not needed every day: gates, answer, pause, cancel, explain, adopt, sync, rewind, revive, accept-graph, doctor, backup, prune, gc, chaos',
    )
    .addHelpText('after', examples('devs admin explain csv-export', 'devs admin doctor'));
  for (const addVerb of VERBS) {
    addVerb(admin, start);
    addVerb(program, start, { hidden: true });
  }
}
