import type { Command, CommandOptions } from 'commander';
import { examples, type Start } from '../project/Start.ts';

/** Declares a verb; what it does is behind its action. */
type AddVerb = (program: Command, start: Start, options?: CommandOptions) => void;

/** A verb, whose module is imported when its name is on the line, and what help lists of it without the module. */
interface Verb {
  /** Its name first, then its arguments. */
  readonly usage: string;
  readonly description: string;
  readonly load: () => Promise<AddVerb>;
}

const reading = () => import('./reading.ts');
const deciding = () => import('./deciding.ts');
const working = () => import('./working.ts');
const operating = () => import('./operating.ts');

/** In the order of the help. */
const DAILY: readonly Verb[] = [
  {
    usage: 'init [options]',
    description: 'look at the project and write .devs/config.json: checks, setup, agents',
    load: async () => (await working()).addInit,
  },
  {
    usage: 'run [options] [brief]',
    description: 'start a run of a brief, or go on with it, until it ends or waits for a human',
    load: async () => (await working()).addRun,
  },
  {
    usage: 'show [options] <gate>',
    description: 'print all that a decision on a gate is about, or how an old one was decided',
    load: async () => (await reading()).addShow,
  },
  {
    usage: 'ask [options] <gate> <question>',
    description: 'ask the agent about what a gate shows; nothing is decided, and the next attempt is told',
    load: async () => (await working()).addAsk,
  },
  {
    usage: 'edit [options] <gate>',
    description: 'change the documents or the plan that a gate shows; it then asks again about your version',
    load: async () => (await working()).addEdit,
  },
  {
    usage: 'approve [options] [gate]',
    description: 'say yes at a gate; records the decision, and drives nothing without --go',
    load: async () => (await deciding()).addApprove,
  },
  {
    usage: 'reject [options] <gate>',
    description: 'say no at a gate and why; records the decision, and drives nothing without --go',
    load: async () => (await deciding()).addReject,
  },
  {
    usage: 'resume [options] <id>',
    description: 'go on with a run, with the agents and checks it was started with',
    load: async () => (await working()).addResume,
  },
  {
    usage: 'docs [options] <id>',
    description: 'print the documents of a run and its plan, or write them as Markdown files',
    load: async () => (await reading()).addDocs,
  },
  {
    usage: 'log [options] <id>',
    description: 'tell what happened in a run, oldest first',
    load: async () => (await reading()).addLog,
  },
  {
    usage: 'status [id]',
    description: 'list the runs, or show one with its tasks, gates and cost',
    load: async () => (await reading()).addStatus,
  },
  {
    usage: 'rm [options] <id>',
    description: 'remove a run that has ended: its record, its folder, and its branch if that is merged',
    load: async () => (await working()).addRm,
  },
  {
    usage: 'trust [options] [sha256]',
    description: 'show what .devs/config.json makes devs do here, and accept exactly that',
    load: async () => (await deciding()).addTrust,
  },
  {
    usage: 'ui [options] [place]',
    description: 'serve a page to read, decide and see on, for this machine alone; drives nothing',
    load: async () => (await reading()).addUi,
  },
];

/** What is not needed every day. */
const ADMIN: readonly Verb[] = [
  {
    usage: 'gates [options] [id]',
    description: 'list what waits for a human, in all runs or in one',
    load: async () => (await reading()).addGates,
  },
  {
    usage: 'answer [options] <gate>',
    description:
      'answer a question, or say how a stuck run goes on; records the decision, and drives nothing without --go',
    load: async () => (await deciding()).addAnswer,
  },
  {
    usage: 'pause <id>',
    description: 'ask whoever drives a run to stop at the next safe point',
    load: async () => (await reading()).addPause,
  },
  {
    usage: 'cancel <id>',
    description: 'end a run for good: at once, or at the next safe point of the process that drives it',
    load: async () => (await reading()).addCancel,
  },
  {
    usage: 'explain <id>',
    description: 'say why a run stands where it stands: question, guards, last errors, what comes next',
    load: async () => (await reading()).addExplain,
  },
  {
    usage: 'adopt [options] <id>',
    description:
      "commit what you changed in a run's folder as yours, and run the checks on it; drives nothing",
    load: async () => (await working()).addAdopt,
  },
  {
    usage: 'sync [options] <id>',
    description: "put a run's commits on top of those you have made since; your checkout is not touched",
    load: async () => (await working()).addSync,
  },
  {
    usage: 'rewind [options] <id> [task]',
    description:
      'set a run back to the end of a task, so that what depends on it is done anew; drives nothing',
    load: async () => (await working()).addRewind,
  },
  {
    usage: 'revive [options] <id>',
    description:
      'bring a run back that was given up (dead_letter) because its drivers kept dying; drives nothing',
    load: async () => (await reading()).addRevive,
  },
  {
    usage: 'accept-graph [options] <id>',
    description: 'let a run that a version of devs with another graph started go on; drives nothing',
    load: async () => (await reading()).addAcceptGraph,
  },
  {
    usage: 'doctor',
    description: 'examine the whole state file and change nothing',
    load: async () => (await reading()).addDoctor,
  },
  {
    usage: 'backup <file>',
    description: 'copy the state file whole, also while a run is driven; never copy it by hand',
    load: async () => (await reading()).addBackup,
  },
  {
    usage: 'rekey [options]',
    description: 'encrypt the state file, change its key, or decrypt it; nobody may have it open',
    load: async () => (await reading()).addRekey,
  },
  {
    usage: 'prune [options] <id>',
    description: 'drop old checkpoints of a run; what it needs to go on is kept',
    load: async () => (await reading()).addPrune,
  },
  {
    usage: 'gc',
    description: 'remove what no run needs: values in the state file, folders and stores without a run',
    load: async () => (await reading()).addGc,
  },
  {
    usage: 'migrate [options]',
    description: 'make the tables of a cluster in PostgreSQL, or bring them up to this release',
    load: async () => (await operating()).addMigrate,
  },
  {
    usage: 'worker [options] [module]',
    description: 'drive the runs of your graphs in a cluster, until it is told to stop',
    load: async () => (await operating()).addWorker,
  },
  {
    usage: 'push [options] <id>',
    description: 'move a run from here into a cluster, whose workers go on with it',
    load: async () => (await operating()).addPush,
  },
  {
    usage: 'pull [options] <id>',
    description: 'move a run from a cluster into a state file here, where it goes on',
    load: async () => (await operating()).addPull,
  },
  {
    usage: 'queue',
    description: 'show what waits for a worker in a cluster, per graph and tenant, and what was given up',
    load: async () => (await operating()).addQueue,
  },
  {
    usage: 'workers',
    description: 'list the processes that drive runs of a cluster, and what they drive',
    load: async () => (await operating()).addWorkers,
  },
  {
    usage: 'tenants [options] [set] [tenant]',
    description: 'list whose runs are in a cluster, or say how many of one are driven at the same time',
    load: async () => (await operating()).addTenants,
  },
  {
    usage: 'redrive [options] [id]',
    description: 'have runs driven again that the workers of a cluster have given up',
    load: async () => (await operating()).addRedrive,
  },
  {
    usage: 'chaos [options]',
    description: 'show on this machine and disk that kill -9 loses nothing; in a folder of its own',
    load: async () => (await working()).addChaos,
  },
];

/** Declares every verb; what those on the line do is loaded, of the others help has their usage and description. */
export async function addVerbs(program: Command, start: Start, argv: readonly string[]): Promise<void> {
  const add = async (parent: Command, verb: Verb, options: CommandOptions = {}): Promise<void> => {
    const { usage, description, load } = verb;
    if (argv.includes(nameOf(verb))) (await load())(parent, start, options);
    // A word in brackets is an argument to commander, so help lists `[options]` as it stands here.
    else parent.command(usage, options).description(description);
  };
  for (const verb of DAILY) await add(program, verb);
  const admin = program
    .command('admin')
    .description(`what is not needed every day: ${ADMIN.map(nameOf).join(', ')}`)
    .addHelpText('after', examples('devs admin explain csv-export', 'devs admin doctor'));
  // Each of them also works without `admin`; help lists it here.
  for (const verb of ADMIN) {
    await add(admin, verb);
    await add(program, verb, { hidden: true });
  }
}

const nameOf = ({ usage }: Verb): string => usage.split(' ', 1).join('');
