import { join } from 'node:path';
import type { CommitRange, FileChange } from '@devs/core';
import { GitRepository } from './GitRepository.ts';

/**
 * How two commits of a run differ, read from its git dir alone. Attributes that the commits contain are not asked: they
 * could declare a file binary, and so hide it from whoever reviews it.
 */
export class CommitDiff {
  readonly #git: GitRepository;
  readonly #noIndex: string;

  constructor({ gitDir }: Pick<GitRepository, 'gitDir'>) {
    this.#git = new GitRepository({ gitDir, workTree: gitDir });
    this.#noIndex = join(gitDir, 'devs-no-index');
  }

  /** By path; renamed files are one removed and one added. */
  async files(range: CommitRange): Promise<readonly FileChange[]> {
    const listed = await this.#diff(range, ['--numstat', '-z']);
    return listed.split('\0').filter(Boolean).map(fileChange);
  }

  /** As `git diff` prints it. */
  text(range: CommitRange): Promise<string> {
    return this.#diff(range, ['--patch']);
  }

  #diff({ from, to }: CommitRange, format: readonly string[]): Promise<string> {
    const plain = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames'];
    return this.#git.run(['diff', ...plain, ...format, objectId(from), objectId(to), '--'], {
      indexFile: this.#noIndex,
    });
  }
}

function fileChange(line: string): FileChange {
  const [added = '', removed = '', ...path] = line.split('\t');
  return { path: path.join('\t'), added: countOf(added), removed: countOf(removed) };
}

/** Binary files have no lines. */
const countOf = (text: string): number | null => (text === '-' ? null : Number(text));

function objectId(value: string): string {
  if (/^[0-9a-f]{40}$/.test(value)) return value;
  throw new RangeError(`Expected a git object id, got ${JSON.stringify(value)}.`);
}
