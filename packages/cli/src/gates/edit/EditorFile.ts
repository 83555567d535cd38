import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gate } from '@devs/core';
import { splitCommand } from '../../flags/commandWords.ts';
import type { Io } from '../../terminal/Io.ts';
import { usageError } from '../../usageError.ts';
import { GATE_LABELS } from '../gateLabels.ts';
import type { GateForm } from './gateForms.ts';

/** A text in the user's editor, in a file that only they can read. */
export class EditorFile {
  readonly path: string;
  readonly #io: Io;

  private constructor(file: string, io: Io) {
    this.path = file;
    this.#io = io;
  }

  static async create(
    { text, extension }: Pick<GateForm, 'text' | 'extension'>,
    io: Io,
  ): Promise<EditorFile> {
    const folder = await mkdtemp(path.join(tmpdir(), 'devs-edit-'));
    const file = new EditorFile(path.join(folder, `gate${extension}`), io);
    await writeFile(file.path, text, { mode: 0o600, flag: 'wx' });
    return file;
  }

  async write(text: string): Promise<void> {
    await writeFile(this.path, text);
  }

  /**
   * Opens `$VISUAL`, else `$EDITOR`, else `vi`, without a shell, and returns what is saved when it ends.
   *
   * @throws DevsError `CONFIG_INVALID` when the editor cannot be started or fails.
   */
  async edit(): Promise<string> {
    const { env } = this.#io;
    const command = env['VISUAL']?.trim() || env['EDITOR']?.trim() || 'vi';
    const [program = '', ...args] = splitCommand(command, 'editor');
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string, cause?: Error): void =>
        reject(usageError(`Editor ${command} ${why}.`, 'Set another editor in $VISUAL or $EDITOR.', cause));
      spawn(program, [...args, this.path], { stdio: 'inherit', env: { ...env } })
        .on('error', (error) => fail('cannot be started', error))
        .on('close', (code) => (code === 0 ? resolve() : fail(`ended with ${code ?? 'a signal'}`)));
    });
    return readFile(this.path, 'utf8');
  }

  async remove(): Promise<void> {
    await rm(path.dirname(this.path), { recursive: true, force: true });
  }
}

const ABOVE = ({ sessionId, kind, threadId }: Gate): readonly string[] => [
  `<!-- What should change at gate ${sessionId.slice(0, 8)}, ${GATE_LABELS[kind].name} of ${threadId}? Write your feedback below. An empty text leaves the gate open. -->`,
  '',
];

/** What should change, written in the user's editor; `null` when nothing is. */
export async function writeFeedback(gate: Gate, io: Io): Promise<string | null> {
  const above = ABOVE(gate);
  const file = await EditorFile.create({ text: `${above.join('\n')}\n`, extension: '.md' }, io);
  try {
    const lines = (await file.edit()).split('\n');
    const text = lines
      .filter((line) => line.trimEnd() !== above[0])
      .join('\n')
      .trim();
    return text === '' ? null : text;
  } finally {
    await file.remove();
  }
}
