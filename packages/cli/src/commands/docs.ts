import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { documentFiles } from '@devs/core';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { withView } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { type Line, withoutBlankEnd } from '../terminal/Line.ts';
import { usageError } from '../usageError.ts';

interface DocsOptions {
  readonly out?: string;
}

export function addDocs(program: Command, start: Start): void {
  program
    .command('docs')
    .description('print the documents and the plan of a run, or write them as Markdown files')
    .argument('<id>', 'run')
    .option('--out <folder>', 'write one file per document into this folder; creates the folder')
    .addHelpText(
      'after',
      examples(
        'devs docs csv-export',
        'devs docs csv-export --out docs/csv-export',
        'devs docs csv-export --json',
      ),
    )
    .action((id: string, options: DocsOptions, command: Command) =>
      start(command, (session) => docs(id, options, session)),
    );
}

async function docs(id: string, { out }: DocsOptions, session: Session): Promise<ExitCode> {
  const state = await withView(session, async (devs) => (await devs.run(id)).state());
  const files = state === null ? [] : documentFiles(state);
  if (out === undefined) {
    await session.out.pages(
      { id, files },
      files.length === 0 ? ['There are no documents yet.'] : files.flatMap(printed),
    );
    return EXIT.ok;
  }
  const folder = path.resolve(session.io.cwd, out);
  await write(files, folder);
  const written = files.map((file) => path.join(folder, file.path));
  session.out.result(
    { id, written },
    written.map((name) => `${path.relative(session.io.cwd, name)}`),
  );
  return EXIT.ok;
}

const printed = ({ path: name, content }: ReturnType<typeof documentFiles>[number]): readonly Line[] => [
  { style: 'bold', text: `── ${name}` },
  { style: 'markdown', text: withoutBlankEnd(content) },
  '',
];

/** A file that is there is replaced: it may be an earlier version. */
async function write(files: ReturnType<typeof documentFiles>, folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    for (const file of files) await writeFile(path.join(folder, file.path), file.content);
  } catch (error) {
    throw usageError(
      `Cannot write the documents to ${folder}: ${(error as Error).message}`,
      'Name a writable folder with --out.',
      error,
    );
  }
}
