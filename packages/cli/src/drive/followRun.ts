import type { LogEntry, Run } from '@devs/core';
import { endingWith, type TranscriptEntry } from '@devs/core/internal';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { withView } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { wholeLog } from '../project/wholeLog.ts';
import { activityLines } from '../render/activityLines.ts';
import { storyLines } from '../render/storyLines.ts';
import type { Line } from '../terminal/Line.ts';

/** Between two looks at the state file, ms, where nobody says that it was written. */
const POLL_MS = 400;

/** Characters of the label of a task: those of the lines that follow are not known. */
const LABEL = 3;

/** A run in one of these is never driven again, but by somebody who brings it back. */
const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'dead_letter']);

/** Tells what happens in a run that another process drives, until it ends or the user has read enough. */
export function followRun(
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
