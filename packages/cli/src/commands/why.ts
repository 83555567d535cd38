import type { PipelineRunInfo } from '@devs/core';
import type { ClusterAdmin } from '@devs/postgres';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { withAdmin } from '../project/openCluster.ts';
import { withView } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { resumeCommand } from '../render/nextCommands.ts';
import { shortId } from '../render/renderGate.ts';
import { columns, indentLine, type Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';

export function addWhy(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('why', options)
    .description('say who has a run, since when, what it waits for, and what would move it')
    .argument('<id>', 'run')
    .addHelpText('after', examples('devs why mail-7', 'devs why mail-7 --json'))
    .action((id: string, _options: object, command: Command) =>
      start(command, (session) => why(id, session)),
    );
}

type Standing = Awaited<ReturnType<ClusterAdmin['why']>>;

/** Result of `devs why`. */
interface Why {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  /** `null` without a holder. */
  readonly heldBy: string | null;
  /** Start of the hold, or of the wait. */
  readonly since: string;
  readonly waitsFor: readonly string[];
  readonly movedBy: readonly string[];
}

async function why(id: string, session: Session): Promise<ExitCode> {
  const said =
    session.cluster === null
      ? whyHere(await withView(session, async (devs) => (await devs.run(id)).status()), session)
      : whyThere(await withAdmin(session, (admin) => admin.why(id)), session);
  session.out.result(said, whyLines(said));
  return EXIT.ok;
}

function whyLines({ id, status, reason, heldBy, since, waitsFor, movedBy }: Why): readonly Line[] {
  const facts = [
    ['status', reason === null ? status : oneLine(`${status}: ${reason}`)],
    ['held by', `${heldBy ?? 'nobody'}, since ${since}`],
    ...waitsFor.map((what) => ['waits for', oneLine(what)]),
    ...movedBy.map((what) => ['moved by', oneLine(what)]),
  ];
  return [{ style: 'bold', text: oneLine(id) }, ...columns(facts).map(indentLine)];
}

/** A reason to wait, and the command or event that ends it. */
type Cause = readonly [waitsFor: string, movedBy: string];

const whyOf = (about: Omit<Why, 'waitsFor' | 'movedBy'>, causes: readonly Cause[]): Why => ({
  ...about,
  waitsFor: causes.map(([waitsFor]) => waitsFor),
  movedBy: causes.map(([, movedBy]) => movedBy),
});

/** In a state file. */
function whyHere(run: PipelineRunInfo, { devs }: Session): Why {
  const { id, status, reason, driver, updatedAt } = run;
  const about = { id, status, reason, heldBy: driver, since: run.running?.since ?? updatedAt };
  if (driver !== null) return whyOf(about, [['its process', devs('log', id, '--follow')]]);
  const ended = causeOfEnd(
    { id, status },
    { devs, retry: resumeCommand(run, devs), revive: devs('admin', 'revive', id) },
  );
  if (ended !== null) return whyOf(about, [ended]);
  if (run.gates.length > 0)
    return whyOf(
      about,
      run.gates.map((gate): Cause => [`a person: gate ${shortId(gate)}`, devs('show', shortId(gate))]),
    );
  if (status === 'waiting') return whyOf(about, [[reason ?? 'a signal', resumeCommand(run, devs)]]);
  return whyOf(about, [['a process that executes it', resumeCommand(run, devs)]]);
}

interface EndCommands {
  readonly devs: Session['devs'];
  readonly retry: string;
  readonly revive: string;
}

/** `null` for a run that has not ended. */
function causeOfEnd(
  { id, status }: Pick<Why, 'id' | 'status'>,
  { devs, retry, revive }: EndCommands,
): Cause | null {
  if (status === 'failed') return ['nothing: it failed', `fix the cause, then ${retry}`];
  if (status === 'dead_letter') return ['nothing: it was given up', `fix the cause, then ${revive}`];
  if (status === 'completed' || status === 'cancelled') return ['nothing: it has ended', devs('log', id)];
  return null;
}

/** In a cluster. */
function whyThere(run: Standing, { devs }: Session): Why {
  const { id, status, reason, holder, updatedAt, givenUp } = run;
  const about = { id, status, reason, heldBy: holder?.worker ?? null, since: holder?.since ?? updatedAt };
  if (holder?.isAlive === true) return whyOf(about, [['its worker', devs('log', id, '--follow')]]);
  if (holder !== null)
    return whyOf(about, [['the leader: its worker is gone', `${aWorker(run)}, within ten seconds`]]);
  if (givenUp !== null)
    return whyOf(about, [
      [`nothing: it was given up, ${givenUp}`, `fix the cause, then ${devs('redrive', id)}`],
    ]);
  const commands = { devs, retry: devs('retry', id), revive: devs('redrive', id) };
  const ended = run.job === null && run.untaken === 0 ? causeOfEnd(run, commands) : null;
  return whyOf(about, ended === null ? causesThere(run, devs) : [ended]);
}

const aWorker = ({ workers }: Standing): string =>
  workers === 0 ? 'start a worker with its graph (devs worker)' : 'nothing to do';

function causesThere(run: Standing, devs: Session['devs']): readonly Cause[] {
  const { id, job, gates, until, untaken, status } = run;
  const isToBeDriven = job !== null || untaken > 0 || status === 'created' || status === 'running';
  if (isToBeDriven) return causesOfQueue(run, devs);
  const causes: Cause[] = gates.map((gate) => [
    `a person: gate ${gate.slice(0, 8)}`,
    devs('show', gate.slice(0, 8)),
  ]);
  if (until !== null) causes.push([`its timer, due ${until}`, aWorker(run)]);
  if (status === 'paused') causes.push(['somebody who continues it', devs('retry', id, '--paused')]);
  if (causes.length === 0)
    causes.push([run.reason ?? 'a signal', `app.signal(${JSON.stringify(id)}, …) in your program`]);
  return causes;
}

/** Of a run that a worker is to execute. */
function causesOfQueue(run: Standing, devs: Session['devs']): readonly Cause[] {
  const { id, job, queue, workers, ready, cap, executing, tenant, deaths } = run;
  const causes: Cause[] = [];
  if (workers === 0)
    causes.push([
      `a worker of queue ${queue}: no live one has its graph in this shape`,
      `start a worker with its graph, or ${devs('accept-graph', id)}`,
    ]);
  if (cap !== null && executing >= cap)
    causes.push([
      `room for tenant ${tenant}: ${executing} of ${cap} execute`,
      devs('tenants', 'set', tenant, '--cap', String(cap + 1)),
    ]);
  if (job?.state === 'later')
    causes.push([
      `attempt ${job.attempts + 1} at ${job.at}${job.error === null ? '' : `, after: ${job.error}`}`,
      'nothing to do',
    ]);
  if (deaths > 0)
    causes.push([`a worker with nothing else in hand: ${deaths} processes died with it`, aWorker(run)]);
  if (causes.length > 0) return causes;
  if (job === null) return [['its job, which the leader restores within 15 seconds', aWorker(run)]];
  return [
    [
      `a free slot: ${ready} jobs are ready in queue ${queue}, ${workers} workers fetch from it`,
      aWorker(run),
    ],
  ];
}
