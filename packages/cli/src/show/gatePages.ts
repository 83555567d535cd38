import { type Gate, isDevsError, type Principal, type Run, shownGate } from '@devs/core';
import { leaveAtGate, maskAtGate, type ShownGate } from '@devs/core/internal';
import { humanFrom } from '../flags/humanFrom.ts';
import type { Session } from '../project/Session.ts';
import { hasChanges } from '../render/artifactChanges.ts';
import { exchangeLines, lastCommentLines } from '../render/gateTalk.ts';
import { renderGate, withCode } from '../render/renderGate.ts';
import { renderGateMarkdown } from '../render/renderGateMarkdown.ts';
import { diffLines, readReviewDiff } from '../render/reviewDiff.ts';
import { type Line, linesAtGate } from '../terminal/Line.ts';

export interface ShowOptions {
  readonly full?: true;
  readonly by?: string;
  readonly md?: true;
  /** Hides nothing, for the one who reads; that is recorded. */
  readonly reveal?: true;
  /** False where the choices are asked for in place. @defaultValue true */
  readonly commands?: boolean;
}

/** All that a decision on an open gate is about, for programs and for people. */
export interface GatePages {
  readonly document: object;
  readonly lines: readonly Line[];
  /** Whether less is shown than a yes is for. */
  readonly hides: boolean;
}

/** What a person is shown of a gate, which is recorded: the next time they are told what has changed. */
export async function gatePages(
  { run, gate: asked }: { readonly run: Run; readonly gate: Gate },
  options: ShowOptions,
  session: Session,
): Promise<GatePages> {
  const { md, full, by, commands = true } = options;
  const { out, devs } = session;
  const { gate, diff, hidden, exchanges, lastComments } = await readShown(
    { run, gate: asked },
    options,
    session,
  );
  const said = lastCommentLines(lastComments);
  const talk = [...said, ...exchangeLines(exchanges)];
  const document = leaveAtGate({
    ...gate,
    ...withCode(gate, hidden),
    ...(diff !== null && { diff }),
    ...(exchanges.length > 0 && { exchanges }),
    ...(lastComments.length > 0 && { lastComments }),
  });
  const hides = gate.hiddenCount + hidden.length > 0;
  const code = diff === null ? [] : diffLines(diff, gate, { full: full === true || md === true, devs });
  if (md === true) {
    const lines = linesAtGate(renderGateMarkdown(gate, devs, { code, said, hidden }));
    return { document, lines, hides };
  }
  const last = await lastShownTo({ run, gate: asked }, by, out);
  const before = last === null || full === true || !hasChanges(gate.artifact) ? null : shownGate(last);
  const lines = linesAtGate(renderGate(gate, devs, { before, code, talk, hidden, commands }));
  return { document, lines, hides };
}

/** A gate and what is shown beside it, with what gates hide hidden, or revealed to the one who asks. */
async function readShown(
  { run, gate: asked }: { readonly run: Run; readonly gate: Gate },
  { by, reveal = false }: { readonly by?: string; readonly reveal?: boolean },
  session: Session,
) {
  if (reveal) await run.reveal(asked, humanFrom(by));
  const diff = await readReviewDiff(asked, session, { reveal });
  const about = { exchanges: await run.exchanges(asked), lastComments: await run.lastComments(asked) };
  return {
    gate: reveal ? revealed(asked) : shownGate(asked),
    diff,
    hidden: diff === null || typeof diff === 'string' ? [] : diff.hidden,
    ...maskAtGate(about, { gate: asked.sessionId }).view,
  };
}

/** All of a gate, and nothing hidden. */
const revealed = (gate: Gate): ShownGate => leaveAtGate({ ...gate, hiddenPlaces: [], hiddenCount: 0 });

/** What whoever reads this on a terminal was shown last, if that was another version; programs read it whole. */
async function lastShownTo(
  open: { readonly run: Run; readonly gate: Gate },
  by: string | undefined,
  out: Session['out'],
): Promise<Gate | null> {
  const reader = out.json ? null : readerFrom(by);
  return reader === null ? null : shownTo(reader, open, out);
}

/** Where nothing can be written, all of it can be read all the same. */
async function shownTo(
  reader: Principal,
  { run, gate }: { readonly run: Run; readonly gate: Gate },
  out: Session['out'],
): Promise<Gate | null> {
  try {
    return await run.recordViewed(gate, reader);
  } catch (error) {
    if (!isDevsError(error, 'STATE_IO') && !isDevsError(error, 'STATE_DISK_FULL')) throw error;
    out.note(`could not record that ${reader.id} viewed the gate: ${error.message}`);
    return null;
  }
}

/** Reading needs no name, unlike deciding: without one nobody is told what has changed. */
export function readerFrom(by: string | undefined): Principal | null {
  try {
    return humanFrom(by);
  } catch (error) {
    if (by !== undefined) throw error;
    return null;
  }
}
