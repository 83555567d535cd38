import { type Gate, type Orchestrator, type Run, shownGate } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type LabelFlags, labelFilterOf, withLabelFlags } from '../flags/labelFlags.ts';
import { hasRuns, withView } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { logPages } from '../project/wholeLog.ts';
import { type PastGate, pastGateLine, toldDecisions } from '../render/renderClosedGate.ts';
import { gateLine } from '../render/renderGate.ts';
import { columns } from '../terminal/Line.ts';
import { usageError } from '../usageError.ts';

interface GatesOptions extends LabelFlags {
  readonly all?: true;
}

export function addGates(program: Command, start: Start, options?: CommandOptions): void {
  const command = program
    .command('gates', options)
    .description('list the open gates of all runs, or of one run')
    .argument('[id]', 'run')
    .option('--all', 'include closed gates and their decisions, oldest first');
  withLabelFlags(command)
    .addHelpText('after', examples('devs gates', 'devs gates csv-export --json', 'devs gates --tag support'))
    .action((id: string | undefined, { all, ...flags }: GatesOptions, command: Command) =>
      start(command, (session) => {
        const filter = labelFilterOf(flags);
        if (filter !== null && (all === true || id !== undefined)) throw aloneOnly();
        return all === true ? allGates(id, session) : gates(id, filter, session);
      }),
    );
}

const aloneOnly = (): Error =>
  usageError(
    'Gates of some runs cannot be combined with --all or a run.',
    'Leave out --all and the run, or the other flags.',
  );

type LabelFilter = ReturnType<typeof labelFilterOf>;

async function gates(id: string | undefined, filter: LabelFilter, session: Session): Promise<ExitCode> {
  const isEmpty = id === undefined && !hasRuns(session);
  const open = isEmpty
    ? []
    : await withView(session, (devs) =>
        filter === null ? listOpenGates(devs, id) : openGatesOf(devs, filter),
      );
  const table = columns([['gate', 'run', 'about', 'open since'], ...open.map(gateLine)]);
  const first = open[0];
  session.out.result(
    open.map(shownGate),
    first === undefined
      ? ['There are no open gates.']
      : [...table, '', `show one: ${session.devs('show', first.sessionId.slice(0, 8))}`],
  );
  return EXIT.ok;
}

/** Oldest first. */
async function openGatesOf(devs: Orchestrator, filter: NonNullable<LabelFilter>): Promise<readonly Gate[]> {
  const gates: Gate[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await devs.openGates({ ...filter, limit: 1000, ...(after !== undefined && { after }) });
    gates.push(...page.gates);
    after = page.next;
  }
  return gates;
}

async function listOpenGates(devs: Orchestrator, id: string | undefined): Promise<readonly Gate[]> {
  if (id !== undefined) return (await devs.run(id)).gates();
  return devs.gates();
}

async function allGates(id: string | undefined, session: Session): Promise<ExitCode> {
  const isEmpty = id === undefined && !hasRuns(session);
  const found = isEmpty ? [] : await withView(session, (devs) => everyGate(devs, id));
  const [last] = found.slice(-1);
  const table = columns([['gate', 'run', 'about', 'opened', 'decided'], ...found.map(pastGateLine)]);
  await session.out.pages(
    found.map(({ gate }) => shownGate(gate)),
    last === undefined
      ? ['There are no gates yet.']
      : [...table, '', `show one: ${session.devs('show', last.gate.sessionId.slice(0, 8))}`],
  );
  return EXIT.ok;
}

async function everyGate(devs: Orchestrator, id: string | undefined): Promise<readonly PastGate[]> {
  const ids = id === undefined ? await devs.ids() : [id];
  const gates: PastGate[] = [];
  for (const each of ids) gates.push(...(await pastGatesOf(await devs.run(each))));
  return gates.sort((a, b) => a.gate.openedAt.localeCompare(b.gate.openedAt));
}

const OPEN = { status: 'awaiting_approval', decision: null, principal: null, decidedAt: null } as const;

async function pastGatesOf(run: Run): Promise<readonly PastGate[]> {
  const closed = await run.closedGates();
  const told = closed.length === 0 ? new Map() : await toldDecisions(logPages(run));
  const open = (await run.gates()).map((gate) => ({ ...gate, ...OPEN }));
  return [...closed, ...open].map((gate) => ({ gate, told: told.get(gate.sessionId) ?? null }));
}
