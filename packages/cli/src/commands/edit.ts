import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { decideGate } from '../drive/decideGate.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { decodeUtf8Text } from '../files/readHanded.ts';
import { addDecideOptions, type DecideFlags } from '../flags/decideFlags.ts';
import { EditorFile } from '../gates/edit/EditorFile.ts';
import { editDecision, editUntilRead, formForGate } from '../gates/edit/editGate.ts';
import type { Decision } from '../gates/recordDecision.ts';
import { type NamedGate, resolveGate } from '../gates/resolveGate.ts';
import { withRuns } from '../project/openProject.ts';
import { examples, isTerminal, type Session, type Start } from '../project/Session.ts';
import { usageError } from '../usageError.ts';

interface EditOptions extends DecideFlags {
  readonly file?: string;
  readonly out?: string;
}

export function addEdit(program: Command, start: Start): void {
  const verb = program
    .command('edit')
    .description('edit the documents or the plan at a gate; the gate then asks again about your version')
    .argument('<gate>', 'id of a gate, or of a run with one open gate')
    .option('--out <file>', 'write the editable text to a new file, then exit')
    .option('--file <file>', 'read the edited text from a file instead of opening $VISUAL or $EDITOR');
  addDecideOptions(verb, 'edits')
    .addHelpText(
      'after',
      examples(
        'devs edit 3f2a91c0',
        'devs edit csv-export --out plan.yaml',
        'devs edit csv-export --file plan.yaml',
      ),
    )
    .action((name: string, options: EditOptions, command: Command) =>
      start(command, (session) =>
        options.out === undefined ? edit(name, options, session) : writeForm(name, options.out, session),
      ),
    );
}

async function writeForm(name: string, out: string, session: Session): Promise<ExitCode> {
  const file = path.resolve(session.io.cwd, out);
  const { text } = await withRuns(session, async (devs) =>
    formForGate(await resolveGate(devs, name), session),
  );
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw usageError(`Cannot write ${file}: ${(error as Error).message}`, 'Name a new file.', error);
  }
  const next = session.devs('edit', name, '--file', out);
  session.out.result({ file }, [`written: ${file}`, `edit it, then run: ${next}`]);
  return EXIT.ok;
}

async function edit(name: string, { file, ...options }: EditOptions, session: Session): Promise<ExitCode> {
  if (file !== undefined) {
    const given = await readEditedFile(path.resolve(session.io.cwd, file));
    const decide = async (named: NamedGate) => editDecision((await formForGate(named, session)).parse(given));
    return decideGate(name, decide, options, session);
  }
  if (!isTerminal(session)) {
    const [out, back] = [
      session.devs('edit', name, '--out', 'FILE'),
      session.devs('edit', name, '--file', 'FILE'),
    ];
    throw usageError('Editing needs a terminal.', `Use ${out}, edit the file, then use ${back}.`);
  }
  return editInEditor(name, options, session);
}

async function editInEditor(name: string, options: DecideFlags, session: Session): Promise<ExitCode> {
  const opened: EditorFile[] = [];
  const decide = async (named: NamedGate): Promise<Decision | null> => {
    const form = await formForGate(named, session);
    const file = await EditorFile.create(form, session.io);
    opened.push(file);
    return editDecision(await editUntilRead(form, file));
  };
  try {
    const exitCode = await decideGate(name, decide, options, session);
    for (const file of opened) await file.remove();
    return exitCode;
  } catch (error) {
    for (const file of opened) session.out.note(`your text is saved in ${file.path}`);
    throw error;
  }
}

async function readEditedFile(file: string): Promise<string> {
  try {
    return decodeUtf8Text(await readFile(file));
  } catch (error) {
    throw usageError(
      `Cannot read ${file}: ${(error as Error).message}`,
      'Name the file that you edited.',
      error,
    );
  }
}
