import type { Orchestrator, PipelineRunInfo, Run, StartOptions, TaskRequest } from '@devs/core';
import { type Command, Option } from 'commander';
import { type ProjectConfig, REVIEWS } from '../config/ProjectConfig.ts';
import { ASK_HELP } from '../drive/driveAsking.ts';
import { type DriveFlags, driveRun, VERBOSE_HELP } from '../drive/driveRun.ts';
import { GateNotifier, NOTIFY_HELP } from '../drive/GateNotifier.ts';
import { chooseLangGraph } from '../drive/langGraphCopy.ts';
import type { ExitCode } from '../exitCodes.ts';
import {
  addGivenOptions,
  type GivenFlags,
  readBrief,
  readProvidedInputs,
} from '../files/readProvidedInputs.ts';
import { AGENTS_HELP } from '../flags/agentNames.ts';
import { addBudgetOptions, type BudgetFlags, budgetFrom } from '../flags/budgetFlags.ts';
import { addGoalOptions } from '../flags/goalFlags.ts';
import { type LabelFlags, newLabelsOf, withNewLabelFlags } from '../flags/labelFlags.ts';
import { collectValues, toMilliseconds } from '../flags/optionValues.ts';
import {
  MAX_WAIT_HELP,
  newSpec,
  type RunSpec,
  type SpecFlags,
  specText,
  travellingSpec,
} from '../flags/runSpec.ts';
import { GATE_LABELS } from '../gates/gateLabels.ts';
import { issueNamed } from '../github/issueBrief.ts';
import { ALL_COMMENTS_HELP, type IssueFlags, issueRun } from '../github/issueRun.ts';
import { acceptedConfig } from '../project/acceptedConfig.ts';
import { acceptedStateFile } from '../project/acceptedStateFile.ts';
import { agentsFrom } from '../project/agentsFrom.ts';
import { withProject } from '../project/openProject.ts';
import { proposedSize } from '../project/proposedSize.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { maskAsRecorded, specOf } from '../project/specOf.ts';
import { takingChanges, tellLeftOut } from '../project/uncommittedChanges.ts';
import { usageError } from '../usageError.ts';

interface RunFlags
  extends SpecFlags,
    DriveFlags,
    BudgetFlags,
    GivenFlags,
    QuickFlags,
    IssueFlags,
    Omit<LabelFlags, 'idPrefix'> {
  readonly withChanges?: true;
  readonly docsInBranch?: true;
  readonly yes?: true;
  readonly review?: (typeof REVIEWS)[number];
}

const EXAMPLES = [
  'OPENAI_API_KEY=… devs run brief.md --agents openai:gpt-5',
  'devs run brief.md --agents openai:gpt-5 --agents review=anthropic:claude-opus-4-5',
  'devs run brief.md --agents claude --agents design=openai:gpt-5',
  "devs run brief.md --agents replay:recording.jsonl --check 'node --test' --yes",
  'devs run brief.md --agents openai:gpt-5 --budget-usd 5 --budget-time 30m',
  'devs run brief.md --documents docs/PRD.md --documents TAS=docs/architecture.md --agents openai:gpt-5',
  'devs run brief.md --plan plan.yaml --agents openai:gpt-5',
  'devs run brief.md --agents openai:gpt-5 --until dag',
  'devs run brief.md --agents openai:gpt-5 --review task',
  'devs run - --id csv-export --agents none < brief.md',
  "devs run -m 'limit(fn) takes an AbortSignal' --agents claude",
  'devs run brief.md --agents claude --metadata tenant=acme --tag nightly',
  "devs run --quick 'the --help text names every exit code' --agents claude",
  'devs run gh:acme/app#12 --agents claude',
];

export function addRun(program: Command, start: Start): void {
  const run = program
    .command('run')
    .description('start or resume a run; stops when the run ends or needs a person')
    .argument('[brief]', 'Markdown file; - for stdin; gh:owner/repo#12 for an issue of GitHub')
    .option('-m, --message <text>', 'text of the brief, instead of a file')
    .option('--all-comments', ALL_COMMENTS_HELP)
    .option('--id <id>', 'name of the run: a-z, 0-9, inner hyphens (default: derived from the brief)')
    .option('--agents <agents>', `${AGENTS_HELP} (default: from .devs/config.json)`, collectValues)
    .option(
      '--check <command>',
      'command that checks the work; no shell (default: the checks of .devs/config.json, or npm test)',
    )
    .option(
      '--no-repository',
      'start with an empty folder, even if the project folder is a git repository or inside one',
    )
    .option('--with-changes', 'include the uncommitted changes of your checkout; recorded with the run')
    .option(
      '--docs-in-branch',
      'commit documents and plan to the branch, in docs/devs/RUN/; recorded with the run',
    )
    .option('--no-sandbox', 'run checks and coding CLIs without a sandbox; recorded with the run')
    .option('--wait', 'keep waiting at gates; a decision made elsewhere is applied within a second')
    .option('--max-wait <length>', MAX_WAIT_HELP, toMilliseconds)
    .option('--no-ask', ASK_HELP)
    .option('-v, --verbose', VERBOSE_HELP)
    .option('--notify <command>', NOTIFY_HELP)
    .addOption(
      new Option(
        '--review <when>',
        'ask for a code review after every task or epic (default: from .devs/config.json, or none)',
      ).choices(REVIEWS),
    )
    .option('--yes', 'approve all gates by policy, without asking; recorded with the run');
  addGoalOptions(addGivenOptions(addBudgetOptions(withNewLabelFlags(addQuickOptions(run)))))
    .addHelpText('after', examples(...EXAMPLES))
    .action((brief: string | undefined, options: RunFlags, command: Command) =>
      start(command, (session) => runBrief(brief, options, session)),
    );
}

async function runBrief(name: string | undefined, flags: RunFlags, session: Session): Promise<ExitCode> {
  const { io, dir } = session;
  const asking = { canAsk: name !== '-' };
  const config = await acceptedConfig(session, asking);
  await acceptedStateFile(session, asking);
  if (quickFrom(flags) !== undefined) assertQuickAlone(flags);
  const { asked, options } = await askedRun(name, flags, session);
  const goesOn = 'goesOn' in asked;
  const plain = goesOn
    ? await specOf(asked.goesOn, flags, session, asking)
    : newSpec(flags, { cwd: io.cwd, dir, config });
  const spec = flags.withChanges && !goesOn ? await takingChanges(plain, session) : plain;
  const recorded = session.cluster === null || goesOn ? spec : travellingSpec(spec, dir);
  const given = await readProvidedInputs(options, { io, config });
  const startedWith = (sized: RunFlags): Omit<StartOptions, 'brief'> => ({
    ...startOptions(sized, recorded, config),
    ...given,
  });
  const wanted = startedWith(options);
  const notifier = options.notify === undefined ? null : new GateNotifier(options.notify, session);
  chooseLangGraph(spec, session);
  const hooks = { ...(await agentsFrom(spec, session)), ...(notifier && { onGate: notifier.onGate }) };
  const begin = async (devs: Orchestrator, brief: string): Promise<Run> => {
    const about = { devs, session, agents: spec.agents };
    const size = await proposedSize(brief, { ...options, ...asking }, about);
    return startRun(devs, { ...(size.quick ? startedWith({ ...options, ...size }) : wanted), brief });
  };
  return withProject(session, hooks, async (devs) => {
    const run = goesOn ? await devs.run(asked.goesOn) : await begin(devs, asked.brief);
    await maskAsRecorded(run);
    if ((await run.status()).status === 'created') await tellLeftOut(spec, session);
    const driving = { ...options, ...(name === '-' && { ask: false }), spec };
    const exitCode = await driveRun(devs, run, driving, session);
    await notifier?.settled();
    await tellIgnored(run, options, session);
    return exitCode;
  });
}

interface AskedRun {
  /** The words of a run that begins, or the id of one that is there. */
  readonly asked: { readonly brief: string } | { readonly goesOn: string };
  readonly options: RunFlags;
}

async function askedRun(name: string | undefined, flags: RunFlags, session: Session): Promise<AskedRun> {
  const issue = issueNamed(name);
  if (issue === null) {
    if (flags.allComments) {
      throw usageError('--all-comments needs an issue.', 'Name one, such as gh:acme/app#12, or remove it.');
    }
    const source = { name, message: flags.message, mayBeWords: quickFrom(flags) !== undefined };
    return { asked: { brief: await readBrief(source, session.io) }, options: flags };
  }
  const { id, metadata, brief } = await issueRun(issue, flags, session);
  const isGiven = [flags.documents, flags.plan, flags.quick].some((value) => value !== undefined);
  if (brief === null && isGiven)
    session.out.note('--documents, --plan and --quick were ignored: the run is there');
  return { asked: brief === null ? { goesOn: id } : { brief }, options: { ...flags, id, metadata } };
}

/** Options that were recorded when the run was started, and are other ones now. */
async function tellIgnored(run: Run, options: RunFlags, { out }: Session): Promise<void> {
  if (options.yes && (await waitsForDeclaredGate(run))) {
    out.note('--yes was ignored: the gate policy was set when the run was started');
  }
  if (options.review !== undefined && options.review !== ((await run.status()).review?.scope ?? 'none')) {
    out.note('--review was ignored: it was set when the run was started');
  }
  if (budgetFrom(options) !== undefined && !(await isBudgetOf(run, options))) {
    out.note('the budget was ignored: it was set when the run was started');
  }
  if (!hasLabels(await run.status(), newLabelsOf(options))) {
    out.note('--metadata and --tag were ignored: they were set when the run was started');
  }
}

const hasLabels = (
  { metadata, tags }: Pick<PipelineRunInfo, 'metadata' | 'tags'>,
  given: ReturnType<typeof newLabelsOf>,
): boolean =>
  Object.entries(given.metadata ?? {}).every(([name, value]) => metadata[name] === value) &&
  (given.tags ?? []).every((tag) => tags.includes(tag));

/** Small work has a design and a plan already. */
function assertQuickAlone({ documents, plan }: RunFlags): void {
  const other = Object.entries({ documents, plan }).find(([, value]) => value !== undefined)?.[0];
  if (other === undefined) return;
  throw usageError(`--quick and --${other} cannot be combined.`, 'Remove one of them.');
}

/** A raised limit is above the declared one. */
async function isBudgetOf(run: Run, options: RunFlags): Promise<boolean> {
  const limits = new Map((await run.status()).budget.map(({ measure, limit }) => [measure, limit]));
  const given = Object.entries(budgetFrom(options) ?? {}) as [
    PipelineRunInfo['budget'][number]['measure'],
    number,
  ][];
  return given.every(([measure, limit]) => (limits.get(measure) ?? 0) >= limit);
}

async function waitsForDeclaredGate(run: Run): Promise<boolean> {
  return (await run.gates()).some(({ kind }) => GATE_LABELS[kind].isDeclarable);
}

function startOptions(
  { id, yes, review: reviewFlag, ...flags }: RunFlags,
  spec: RunSpec,
  { gates, budget: configured, review: reviewConfigured, documents }: ProjectConfig,
): Omit<StartOptions, 'brief'> {
  const budget = budgetFrom(flags) ?? configured;
  const quick = quickFrom(flags);
  const review = reviewFlag ?? reviewConfigured;
  const docsInBranch = flags.docsInBranch ?? documents?.inBranch;
  return {
    ...(budget !== undefined && { budget }),
    ...(docsInBranch && { docsInBranch }),
    agentsRef: specText(spec),
    ...(id !== undefined && { id }),
    ...newLabelsOf(flags),
    ...(quick === undefined
      ? { review, gates: yes ? { design: 'auto', dag: 'auto', review: 'auto' } : gates }
      : quickOptions(quick, { yes, reviewFlag })),
  };
}

/** The configured gates are for other runs. Small work has one gate, and flags of this command change it. */
const quickOptions = (
  quick: NonNullable<StartOptions['quick']>,
  { yes, reviewFlag }: { readonly yes: true | undefined; readonly reviewFlag: RunFlags['review'] },
): Pick<StartOptions, 'quick' | 'review' | 'gates'> => ({
  quick,
  ...(reviewFlag !== undefined && { review: reviewFlag }),
  ...(yes && { gates: { review: 'auto' } }),
});

/** What is a programmer's mistake to the engine (an empty brief, an id that names no folder) was typed by the user. */
async function startRun(devs: Orchestrator, options: StartOptions): Promise<Run> {
  try {
    return await devs.start(options);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw usageError(
      error.message,
      'Correct the brief, the documents or the --id, then run the command again.',
      error,
    );
  }
}

interface QuickFlags {
  readonly quick?: true;
  readonly kind?: NonNullable<TaskRequest['task']['kind']>;
  readonly checkedBy?: string;
}

const KINDS: readonly NonNullable<TaskRequest['task']['kind']>[] = [
  'test-first',
  'behaviour-kept',
  'checked-by',
];

function addQuickOptions(command: Command): Command {
  return command
    .option('--quick', 'small job: one task, no design or plan to approve; you review the code')
    .addOption(
      new Option('--kind <kind>', 'with --quick: how the work is verified (default: test-first)').choices(
        KINDS,
      ),
    )
    .option('--checked-by <command>', 'with --quick --kind checked-by: a command (no shell), or review');
}

/** @throws DevsError `CONFIG_INVALID` for flags of small work without `--quick`, or that do not fit each other. */
function quickFrom({ quick, kind, checkedBy }: QuickFlags): NonNullable<StartOptions['quick']> | undefined {
  if (!quick && (kind !== undefined || checkedBy !== undefined)) {
    throw usageError('--kind and --checked-by need --quick.', 'Add --quick, or remove them.');
  }
  if ((kind === 'checked-by') !== (checkedBy !== undefined)) {
    throw usageError(
      '--kind checked-by and --checked-by need each other.',
      "Use --kind checked-by --checked-by 'tsc --noEmit', or --checked-by review.",
    );
  }
  if (!quick) return undefined;
  return { ...(kind !== undefined && { kind }), ...(checkedBy !== undefined && { checkedBy }) };
}
