import type { DoctorReport } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withView } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { columns, type Line } from '../../terminal/Line.ts';

export function addDoctor(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('doctor', options)
    .description('check the whole state file; changes nothing')
    .addHelpText('after', examples('devs admin doctor', 'devs admin doctor --json'))
    .action((_options: object, command: Command) => start(command, doctor));
}

async function doctor(session: Session): Promise<ExitCode> {
  const report = await withView(session, async (devs) => devs.verify());
  session.out.result(report, renderDoctorReport(report));
  return report.ok ? EXIT.ok : EXIT.stateFile;
}

const NOT_ENCRYPTED =
  'Anyone with read access can read the whole file. To encrypt it, set DEVS_NEW_ENCRYPTION_KEY and run devs admin rekey.';

function renderDoctorReport({ ok, findings, encrypted, sizes }: DoctorReport): readonly Line[] {
  const rows = findings.map(({ severity, code, table, detail }) => [severity, code, table ?? '-', detail]);
  if (encrypted === false) rows.push(['note', 'NOT_ENCRYPTED', '-', NOT_ENCRYPTED]);
  return [
    { style: 'bold', text: ok ? 'the state file is sound' : 'the state file is damaged' },
    ...columns(rows),
    ...(sizes === null
      ? []
      : columns(Object.entries(sizes).map(([name, value]) => [name, detailText(value)]))),
    ...(ok ? [] : ['Restore it from a backup: see docs/guide/troubleshooting.md.']),
  ];
}

const detailText = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);
