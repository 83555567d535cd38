import { type Command, type CommandOptions, Option } from 'commander';
import { examples, type Start } from '../project/Start.ts';
import { addAcceptGraph } from './admin/acceptGraph.ts';
import { addBackup } from './admin/backup.ts';
import { addCancel } from './admin/cancel.ts';
import { addDoctor } from './admin/doctor.ts';
import { addExplain } from './admin/explain.ts';
import { addGc } from './admin/gc.ts';
import { addPause } from './admin/pause.ts';
import { addPrune } from './admin/prune.ts';
import { addRevive } from './admin/revive.ts';
import { addDocs } from './docs.ts';
import { addGates } from './gates.ts';
import { addLog } from './log.ts';
import { addShow } from './show.ts';
import { addStatus } from './status.ts';
import { addUi } from './ui.ts';

/** Declares a verb; what it does is behind its action. */
type AddVerb = (program: Command, start: Start, options?: CommandOptions) => void;

/** A verb whose module is imported when its name is on the line, and what help lists of it without the module. */
interface LateVerb {
  /** With its arguments. */
  readonly usage: string;
  readonly description: string;
  readonly load: () => Promise<AddVerb>;
}

const deciding = () => import('./deciding.ts');
const working = () => import('./working.ts');

/** In the order of the help. */
const DAILY: readonly (AddVerb | LateVerb)[] = [
  {
    usage: 'init',
    description: 'look at the project and write .devs/config.json: checks, setup, agents',
    load: async () => (await working()).addInit,
  },
  {
    usage: 'run [brief]',
    description: 'start a run of a brief, or go on with it, until it ends or waits for a human',
    load: async () => (await working()).addRun,
  },
  addShow,
  {
    usage: 'ask <gate> <question>',
    description: 'ask the agent about what a gate shows; nothing is decided, and the next attempt is told',
    load: async () => (await working()).addAsk,
  },
  {
    usage: 'edit <gate>',
    description: 'change the documents or the plan that a gate shows; it then asks again about your version',
    load: async () => (await working()).addEdit,
  },
  {
    usage: 'approve [gate]',
    description: 'say yes at a gate; records the decision, and drives nothing without --go',
    load: async () => (await deciding()).addApprove,
  },
  {
    usage: 'reject <gate>',
    description: 'say no at a gate and why; records the decision, and drives nothing without --go',
    load: async () => (await deciding()).addReject,
  },
  {
    usage: 'resume <id>',
    description: 'go on with a run, with the agents and checks it was started with',
    load: async () => (await working()).addResume,
  },
  addDocs,
  addLog,
  addStatus,
  {
    usage: 'rm <id>',
    description: 'remove a run that has ended: its record, its folder, and its branch if that is merged',
    load: async () => (await working()).addRm,
  },
  {
    usage: 'trust [sha256]',
    description: 'show what .devs/config.json makes devs do here, and accept exactly that',
    load: async () => (await deciding()).addTrust,
  },
  addUi,
];

/** What is not needed every day. */
const ADMIN: readonly (AddVerb | LateVerb)[] = [
  addGates,
  {
    usage: 'answer <gate>',
    description:
      'answer a question, or say how a stuck run goes on; records the decision, and drives nothing without --go',
    load: async () => (await deciding()).addAnswer,
  },
  addPause,
  addCancel,
  addExplain,
  {
    usage: 'adopt <id>',
    description:
      "commit what you changed in a run's folder as yours, and run the checks on it; drives nothing",
    load: async () => (await working()).addAdopt,
  },
  {
    usage: 'sync <id>',
    description: "put a run's commits on top of those you have made since; your checkout is not touched",
    load: async () => (await working()).addSync,
  },
  {
    usage: 'rewind <id> [task]',
    description:
      'set a run back to the end of a task, so that what depends on it is done anew; drives nothing',
    load: async () => (await working()).addRewind,
  },
  addRevive,
  addAcceptGraph,
  addDoctor,
  addBackup,
  addPrune,
  addGc,
  {
    usage: 'chaos',
    description: 'show on this machine and disk that kill -9 loses nothing; in a folder of its own',
    load: async () => (await working()).addChaos,
  },
];

/** Declares every verb; of those that load more than they show, the ones that are on the line. */
export async function addVerbs(program: Command, start: Start, argv: readonly string[]): Promise<void> {
  const add = async (parent: Command, verb: AddVerb | LateVerb, options?: CommandOptions): Promise<void> => {
    if (typeof verb === 'function') return verb(parent, start, options);
    if (argv.some((word) => isNameOf(verb, word))) return (await verb.load())(parent, start, options);
    list(parent, verb, options);
  };
  for (const verb of DAILY) await add(program, verb);
  const admin = program
    .command('admin')
    .description(
      'what is not needed every day: gates, answer, pause, cancel, explain, adopt, sync, rewind, revive, accept-graph, doctor, backup, prune, gc, chaos',
    )
    .addHelpText('after', examples('devs admin explain csv-export', 'devs admin doctor'));
  // Each of them also works without `admin`; help lists it here.
  for (const verb of ADMIN) {
    await add(admin, verb);
    await add(program, verb, { hidden: true });
  }
}

const isNameOf = ({ usage }: LateVerb, word: string): boolean => usage.split(' ', 1).includes(word);

function list(parent: Command, { usage, description }: LateVerb, options: CommandOptions = {}): void {
  // Help says of a verb that it has options; all of these have.
  parent.command(usage, options).description(description).addOption(new Option('--late').hideHelp());
}
