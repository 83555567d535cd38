import type { LogEntry, Run } from '@devs/core';
import { endingWith, type TranscriptEntry } from '@devs/core/internal';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { withView } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { logPages, wholeLog } from '../project/wholeLog.ts';
import { activityLines } from '../render/activityLines.ts';
import { labelWidth, storyLines } from '../render/storyLines.ts';
import type { Line } from '../terminal/Line.ts';
import type { ListPart } from '../terminal/Output.ts';
import { usageError } from '../usageError.ts';

interface LogFlags {
  readonly follow?: true;
  readonly verbose?: true;
  readonly stage?: string;
  readonly attempt?: string;
  readonly prompt?: true;
}

export function addLog(program: Command, start: Start): void {
  program
    .command('log')
    .description('print the events of a run, oldest first')
    .argument('<id>', 'run')
    .option('-f, --follow', 'keep printing until the run ends or you press Ctrl-C')
    .option('-v, --verbose', 'with --follow: include the output of agents, checks and setup')
    .option('--stage <stage>', 'print the transcript of a stage, such as T4.implement or design')
    .option('--attempt <number>', 'attempt of the stage, from 1 (default: the newest)')
    .option('--prompt', 'with --stage: print what the agent was sent, and nothing else')
    .addHelpText(
      'after',
      examples(
        'devs log csv-export',
        'devs log csv-export --json',
        'devs log csv-export --follow -v',
        'devs log csv-export --stage T4.implement',
        'devs log csv-export --stage T4.implement --prompt',
      ),
    )
    .action((id: string, flags: LogFlags, command: Command) =>
      start(command, (session) => readLog(id, flags, session)),
    );
}

async function readLog(id: string, flags: LogFlags, session: Session): Promise<ExitCode> {
  const { follow, verbose, stage, attempt, prompt } = flags;
  if (prompt === true && stage === undefined) {
    throw usageError('--prompt needs a stage.', 'Name one, such as --stage T4.implement or --stage design.');
  }
  if (stage !== undefined && follow === true) {
    throw usageError(
      '--stage and --follow cannot be combined.',
      'To follow all stages, use --follow --verbose.',
    );
  }
  if (stage !== undefined) {
    const query = { stage, ...attemptFrom(attempt) };
    return prompt === true ? stagePrompt(id, query, session) : stageLog(id, query, session);
  }
  if (follow === true) return followRun(id, { verbose: verbose === true }, session);
  if (session.out.isPaged) return pageLog(id, session);
  await withView(session, async (devs) => {
    const run = await devs.run(id);
    await session.out.list(logParts(run, session.out.json ? null : await extentOf(run)), NOTHING);
  });
  return EXIT.ok;
}

const NOTHING = ['There are no events yet.'];

/** The state file is closed before anybody reads: that may take an hour. */
async function pageLog(id: string, session: Session): Promise<ExitCode> {
  const entries = await withView(session, async (devs) => wholeLog(await devs.run(id)));
  const lines = storyLines(entries);
  await session.out.pages(entries, lines.length === 0 ? NOTHING : lines);
  return EXIT.ok;
}

/** How wide the labels of a log are, and where it ends. */
interface Extent {
  readonly label: number;
  readonly last: number;
}

async function extentOf(run: Run): Promise<Extent> {
  let extent = { label: 0, last: 0 };
  for await (const page of logPages(run)) {
    extent = { label: Math.max(extent.label, labelWidth(page)), last: page.at(-1)?.seq ?? extent.last };
  }
  return extent;
}

/** @param extent - Of what people are told, whose columns are the same from the first line to the last. */
async function* logParts(run: Run, extent: Extent | null): AsyncGenerator<ListPart> {
  for await (const page of logPages(run)) {
    const documents = page.filter(({ seq }) => seq <= (extent?.last ?? seq));
    if (documents.length === 0) return;
    yield { documents, lines: extent === null ? [] : storyLines(documents, extent.label) };
  }
}

interface StageQuery {
  readonly stage: string;
  readonly attempt?: number;
}

async function stageLog(id: string, query: StageQuery, session: Session): Promise<ExitCode> {
  const entries = await stageEntries(id, query, session);
  await session.out.pages(entries, [
    ...heading(entries),
    ...entries.flatMap(({ activity }) => activityLines(activity)),
  ]);
  return EXIT.ok;
}

/** Prints the prompt alone, unchanged, for reading and copying. */
async function stagePrompt(id: string, query: StageQuery, session: Session): Promise<ExitCode> {
  const entries = await stageEntries(id, query, session);
  const sent = entries.filter(({ activity }) => activity.kind === 'prompt');
  const lines = sent.flatMap(({ activity }) =>
    activity.kind === 'prompt' ? activity.prompt.split('\n') : [],
  );
  await session.out.pages(sent, [...heading(entries), ...(sent.length === 0 ? NO_PROMPT : lines)]);
  return EXIT.ok;
}

const NO_PROMPT = ['Nothing was recorded: its agent is a recording, your own, or of an older release.'];

function stageEntries(id: string, query: StageQuery, session: Session): Promise<readonly TranscriptEntry[]> {
  return withView(session, async (devs) => {
    const run = await devs.run(id);
    try {
      return await run.transcript(query);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw usageError(
        error.message,
        `Name one of these stages: ${session.devs('log', id, '--stage', 'design')}`,
      );
    }
  });
}

function heading([first]: readonly TranscriptEntry[]): readonly Line[] {
  if (first === undefined) return [];
  const { stage, attempt, at } = first;
  return [{ style: 'bold', text: `${stage}, attempt ${attempt}, ${at.slice(0, 19).replace('T', ' ')}Z` }];
}

function attemptFrom(text: string | undefined): { readonly attempt?: number } {
  if (text === undefined) return {};
  if (/^[1-9]\d{0,5}$/.test(text)) return { attempt: Number(text) };
  throw usageError(`"${text}" is not an attempt number.`, 'Use a whole number from 1, such as --attempt 2.');
}

/** Between two looks at the state file, ms, where nobody says that it was written. */
const POLL_MS = 400;

/** Characters of the label of a task: those of the lines that follow are not known. */
const LABEL = 3;

/** A run in one of these is never driven again, but by somebody who brings it back. */
const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'dead_letter']);

/** Tells what happens in a run that another process drives, until it ends or the user has read enough. */
function followRun(
  id: string,
  { verbose }: { readonly verbose: boolean },
  session: Session,
): Promise<ExitCode> {
  const { signal } = session.io;
  return withView(session, async (devs) => {
    const run = await devs.run(id);
    const reader = new LogFollower(run, session, verbose);
    const news = await devs.news({ threadId: id });
    return endingWith(news.stop, async () => {
      while (!signal.aborted) {
        const isOver = OVER.has((await run.status()).status); // before the log is read: the end itself is told
        const wentOn = await reader.tellNew();
        if (isOver) return EXIT.ok;
        if (!wentOn) await news.next(POLL_MS, signal); // else asked at once: what was told may have been the end
      }
      return EXIT.ok;
    });
  });
}

class LogFollower {
  readonly #run: Run;
  readonly #session: Session;
  readonly #verbose: boolean;
  #seq = 0;
  #piece = 0;
  #stage = '';

  constructor(run: Run, session: Session, verbose: boolean) {
    this.#run = run;
    this.#session = session;
    this.#verbose = verbose;
  }

  /** True if the story went on. */
  async tellNew(): Promise<boolean> {
    const entries = await wholeLog(this.#run, this.#seq);
    const told = this.#verbose ? await this.#run.transcript({ afterSeq: this.#piece }) : [];
    this.#seq = entries.at(-1)?.seq ?? this.#seq;
    this.#piece = told.at(-1)?.seq ?? this.#piece;
    const all = [...entries.map(storyItem), ...told.map((entry) => this.#toldItem(entry))];
    for (const { document, lines } of all.sort((a, b) => a.at.localeCompare(b.at))) {
      this.#session.out.item(document, lines());
    }
    return entries.length > 0;
  }

  #toldItem(entry: TranscriptEntry): LogItem {
    const { at, stage, activity } = entry;
    const lines = (): readonly Line[] => {
      const isNew = stage !== this.#stage;
      this.#stage = stage;
      return [...(isNew ? [`         ${stage}`] : []), ...activityLines(activity)];
    };
    return { at, document: entry, lines };
  }
}

interface LogItem {
  readonly at: string;
  readonly document: unknown;
  readonly lines: () => readonly Line[];
}

function storyItem(entry: LogEntry): LogItem {
  return { at: entry.at, document: entry, lines: () => storyLines([entry], LABEL) };
}
