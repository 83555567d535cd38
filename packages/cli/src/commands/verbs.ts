import type { Command, CommandOptions } from 'commander';
import { examples, type Start } from '../project/Session.ts';

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
const loadWorking = () => import('./working.ts');
const operating = () => import('./operating.ts');

/** In the order of the help. */
const DAILY: readonly Verb[] = [
  {
    usage: 'init [options]',
    description: 'inspect the project and write .devs/config.json: checks, setup, agents',
    load: async () => (await loadWorking()).addInit,
  },
  {
    usage: 'run [options] [brief]',
    description: 'start or resume a run; stops when the run ends or needs a person',
    load: async () => (await loadWorking()).addRun,
  },
  {
    usage: 'show [options] <gate>',
    description: 'print the content of a gate, or the decision if it is closed',
    load: async () => (await reading()).addShow,
  },
  {
    usage: 'ask [options] <gate> <question>',
    description: 'ask the agent about a gate without deciding it; the next attempt sees the answer',
    load: async () => (await loadWorking()).addAsk,
  },
  {
    usage: 'edit [options] <gate>',
    description: 'edit the documents or the plan at a gate; the gate then asks again about your version',
    load: async () => (await loadWorking()).addEdit,
  },
  {
    usage: 'approve [options] [gate]',
    description: 'approve a gate; add --go to resume the run',
    load: async () => (await deciding()).addApprove,
  },
  {
    usage: 'reject [options] <gate>',
    description: 'reject a gate with feedback; add --go to resume the run',
    load: async () => (await deciding()).addReject,
  },
  {
    usage: 'resume [options] <id>',
    description: 'resume a run with its original agents and checks',
    load: async () => (await loadWorking()).addResume,
  },
  {
    usage: 'pr [options] <id>',
    description: 'push the branch of a run and open a pull request with its review, or update it; uses gh',
    load: async () => (await loadWorking()).addPr,
  },
  {
    usage: 'docs [options] <id>',
    description: 'print the documents and the plan of a run, or write them as Markdown files',
    load: async () => (await reading()).addDocs,
  },
  {
    usage: 'log [options] <id>',
    description: 'print the events of a run, oldest first',
    load: async () => (await reading()).addLog,
  },
  {
    usage: 'status [options] [id]',
    description: 'list the runs, or show one with its tasks, gates and cost',
    load: async () => (await reading()).addStatus,
  },
  {
    usage: 'rm [options] [id]',
    description: 'remove a run that has ended: its record, its folder, and its branch if it is merged',
    load: async () => (await loadWorking()).addRm,
  },
  {
    usage: 'compact [options]',
    description: 'make the state file smaller, and overwrite what was deleted from it',
    load: async () => (await reading()).addCompact,
  },
  {
    usage: 'trust [options] [sha256]',
    description: 'show the commands that .devs/config.json runs on this machine, and accept them',
    load: async () => (await deciding()).addTrust,
  },
  {
    usage: 'ui [options] [place]',
    description: 'serve a page on this machine to read and decide gates, and to execute runs',
    load: async () => (await reading()).addUi,
  },
  {
    usage: 'serve [options] [target]',
    description: 'serve your graphs to LangGraph clients, with a page at /ui, and execute their runs',
    load: async () => (await import('./serve.ts')).addServe,
  },
];

/** What is not needed every day. */
const ADMIN: readonly Verb[] = [
  {
    usage: 'gates [options] [id]',
    description: 'list the open gates of all runs, or of one run',
    load: async () => (await reading()).addGates,
  },
  {
    usage: 'answer [options] <gate>',
    description: 'answer a question, or decide how a stuck run continues; add --go to resume the run',
    load: async () => (await deciding()).addAnswer,
  },
  {
    usage: 'pause [options] [id]',
    description: 'stop a run at its next safe point, or at once',
    load: async () => (await reading()).addPause,
  },
  {
    usage: 'cancel [options] [id]',
    description: 'cancel a run; calls in flight are aborted',
    load: async () => (await reading()).addCancel,
  },
  {
    usage: 'trace [options] <id>',
    description: 'print the spans of a run as a tree with durations, or export them with OpenTelemetry',
    load: async () => (await reading()).addTrace,
  },
  {
    usage: 'why <id>',
    description: 'say who has a run, since when, what it waits for, and what would move it',
    load: async () => (await reading()).addWhy,
  },
  {
    usage: 'explain <id>',
    description: 'explain why a run waits or stopped: question, guards, errors, next step',
    load: async () => (await reading()).addExplain,
  },
  {
    usage: 'adopt [options] <id>',
    description:
      "commit your own changes in a run's folder, and run the checks on them; does not resume the run",
    load: async () => (await loadWorking()).addAdopt,
  },
  {
    usage: 'sync [options] <id>',
    description: "move a run's commits onto your newer commits; does not change your checkout",
    load: async () => (await loadWorking()).addSync,
  },
  {
    usage: 'rewind [options] <id> [task]',
    description:
      'rewind a run to the end of a task, to redo the tasks that depend on it; does not resume the run',
    load: async () => (await loadWorking()).addRewind,
  },
  {
    usage: 'revive [options] <id>',
    description:
      'revive a run that was given up (dead_letter) because its processes kept dying; does not resume it',
    load: async () => (await reading()).addRevive,
  },
  {
    usage: 'accept-graph [options] [id]',
    description: 'allow a run to continue with a changed graph; does not resume the run',
    load: async () => (await reading()).addAcceptGraph,
  },
  {
    usage: 'upgrade [options] <module>',
    description: 'check before a deploy which waiting runs a changed graph continues; executes nothing',
    load: async () => (await import('./admin/upgrade.ts')).addUpgrade,
  },
  {
    usage: 'webhooks [options] <module>',
    description: 'list the events that webhooks have not taken, and those that were given up',
    load: async () => (await import('./admin/webhooks.ts')).addWebhooks,
  },
  {
    usage: 'schedule [options] <module> [id]',
    description: 'list the schedules of your apps, or add or remove one',
    load: async () => (await import('./admin/schedule.ts')).addSchedule,
  },
  {
    usage: 'import-threads [options] <module>',
    description: 'take over the waiting threads of a LangGraph checkpointer; prints a list first',
    load: async () => (await import('./admin/threads.ts')).addImportThreads,
  },
  {
    usage: 'export-threads [options] <module>',
    description: 'copy runs into a LangGraph checkpointer; prints a list first',
    load: async () => (await import('./admin/threads.ts')).addExportThreads,
  },
  {
    usage: 'doctor',
    description: 'check the whole state file; changes nothing',
    load: async () => (await reading()).addDoctor,
  },
  {
    usage: 'backup <file>',
    description: 'copy the state file, even while runs execute; never copy it by hand',
    load: async () => (await reading()).addBackup,
  },
  {
    usage: 'rekey [options]',
    description: 'encrypt the state file, change its key, or decrypt it; no other process may have it open',
    load: async () => (await reading()).addRekey,
  },
  {
    usage: 'prune [options] <id>',
    description: 'remove old checkpoints of a run; keeps the checkpoints it needs to resume',
    load: async () => (await reading()).addPrune,
  },
  {
    usage: 'gc',
    description: 'remove unused values from the state file, and folders and stores without a run',
    load: async () => (await reading()).addGc,
  },
  {
    usage: 'migrate [options]',
    description: 'create the tables of a cluster in PostgreSQL, or upgrade them to this release',
    load: async () => (await operating()).addMigrate,
  },
  {
    usage: 'worker [options] [module]',
    description: 'execute the runs of your graphs, in a state file or a cluster, until you stop it',
    load: async () => (await operating()).addWorker,
  },
  {
    usage: 'push [options] <id>',
    description: 'move a run from here into a cluster, where workers continue it',
    load: async () => (await operating()).addPush,
  },
  {
    usage: 'pull [options] <id>',
    description: 'move a run from a cluster into a state file here, to continue it here',
    load: async () => (await operating()).addPull,
  },
  {
    usage: 'queue [options]',
    description:
      'show the runs that wait for a worker, per graph and tenant, and the runs that were given up',
    load: async () => (await operating()).addQueue,
  },
  {
    usage: 'workers',
    description: 'list the workers of a cluster and the runs they execute',
    load: async () => (await operating()).addWorkers,
  },
  {
    usage: 'tenants [options] [set] [tenant]',
    description: 'list the tenants of a cluster, or limit how many runs of a tenant execute at the same time',
    load: async () => (await operating()).addTenants,
  },
  {
    usage: 'redrive [options] [id]',
    description: 'execute runs again that the workers of a cluster have given up',
    load: async () => (await operating()).addRedrive,
  },
  {
    usage: 'retry [options] [id]',
    description: 'execute failed or paused runs of a cluster again; recorded steps are not repeated',
    load: async () => (await operating()).addRetry,
  },
  {
    usage: 'chaos [options]',
    description: 'test on this machine and disk that kill -9 loses nothing; uses its own folder',
    load: async () => (await loadWorking()).addChaos,
  },
];

/** Declares every verb; what those on the line do is loaded, of the others help has their usage and description. */
export async function addVerbs(program: Command, start: Start, argv: readonly string[]): Promise<void> {
  const add = async (parent: Command, verb: Verb, options: CommandOptions = {}): Promise<void> => {
    const { usage, description, load } = verb;
    if (argv.includes(verbName(verb))) (await load())(parent, start, options);
    // A word in brackets is an argument to commander, so help lists `[options]` as it stands here.
    else parent.command(usage, options).description(description);
  };
  for (const verb of DAILY) await add(program, verb);
  const admin = program
    .command('admin')
    .description(`less common commands: ${ADMIN.map(verbName).join(', ')}`)
    .addHelpText('after', examples('devs admin explain csv-export', 'devs admin doctor'));
  // Each of them also works without `admin`; help lists it here.
  for (const verb of ADMIN) {
    await add(admin, verb);
    await add(program, verb, { hidden: true });
  }
}

const verbName = ({ usage }: Verb): string => usage.split(' ', 1).join('');
