import type { GitRepository } from './GitRepository.ts';
import { BASE, readRef } from './refs.ts';

/** Stands alone on the last line of a commit's message, so a message that mentions a key cannot be mistaken for one. */
export const STEP_TRAILER = 'Devs-Step: ';

// Controls but tab and line feed, marks that turn the direction of a text, and separators that some show as a line's end.
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** What the pipeline says of a task's commit, in the last paragraph of its message. */
const TASK_TRAILER = /^Devs-(?:Task|Agents): /;

/**
 * A commit's message. The trailer is in the last paragraph, beside those of the pipeline and nobody else's: what ends the
 * message before it, a `Signed-off-by: …` of an agent for one, is none.
 */
export function messageWith(trailer: string, message: string): string {
  const text = message.replaceAll('\r\n', '\n').replaceAll(UNSEEN, '').trim() || 'Step';
  const [, ...paragraphs] = text.split('\n\n');
  const isOurs =
    paragraphs
      .at(-1)
      ?.split('\n')
      .every((line) => TASK_TRAILER.test(line)) === true;
  return `${text}${isOurs ? '\n' : '\n\n'}${trailer}\n`;
}

/** Text of a commit, its id before it. */
const ID_AND_MESSAGE = '--format=%H %B';

/** The commits of a run, by the step that made them. */
export class StepCommits {
  readonly #git: GitRepository;

  constructor(git: GitRepository) {
    this.#git = git;
  }

  /** One entry per commit of the run's own, newest first unless `format` says otherwise. */
  async history(tip: string | null, format: readonly string[]): Promise<readonly string[]> {
    if (tip === null) return [];
    const base = await readRef(this.#git, BASE);
    return this.#log([...format, tip, ...(base === null ? [] : [`^${base}`])]);
  }

  async find(tip: string | null, stepKey: string): Promise<string | null> {
    const entries = await this.history(tip, [ID_AND_MESSAGE]);
    const found = entries.find((entry) => stepOf(entry) === stepKey);
    return found === undefined ? null : commitIdOf(found);
  }

  /** For each commit that the branch does not have, the one of the same step that it has. */
  async successors(
    commits: readonly string[],
    tip: string | null,
  ): Promise<Readonly<Record<string, string>>> {
    const entries = await this.history(tip, [ID_AND_MESSAGE]);
    const here = new Set(entries.map(commitIdOf));
    const gone = commits.filter((commit) => !here.has(commit));
    if (gone.length === 0) return {};
    const byStep = new Map(entries.map((entry) => [stepOf(entry), commitIdOf(entry)]));
    const before = await this.#log(['--no-walk=unsorted', ID_AND_MESSAGE, ...gone]);
    const pairs = before.flatMap((entry) => {
      const step = stepOf(entry);
      const now = step === null ? undefined : byStep.get(step);
      return now === undefined ? [] : [[commitIdOf(entry), now] as const];
    });
    return Object.fromEntries(pairs);
  }

  async #log(args: readonly string[]): Promise<readonly string[]> {
    const text = await this.#git.run(['log', '-z', ...args, '--']);
    return text.split('\0').filter((entry) => entry !== '');
  }
}

const commitIdOf = (entry: string): string => entry.slice(0, 40);

function stepOf(entry: string): string | null {
  const text = entry.trimEnd();
  const start = text.lastIndexOf('\n') + 1;
  return start > 0 && text.startsWith(STEP_TRAILER, start) ? text.slice(start + STEP_TRAILER.length) : null;
}
