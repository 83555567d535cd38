import { type Gate, isDevsError, type Principal, type Run } from '@devs/core';
import { humanFrom } from '../flags/humanFrom.ts';
import type { Session } from '../project/Session.ts';
import { hasChanges } from '../render/artifactChanges.ts';
import { lastCommentLines } from '../render/commentLines.ts';
import { exchangeLines } from '../render/exchangeLines.ts';
import { renderGate } from '../render/renderGate.ts';
import { renderGateMarkdown } from '../render/renderGateMarkdown.ts';
import { diffLines, readReviewDiff } from '../render/reviewDiff.ts';
import type { Line } from '../terminal/Line.ts';
import { isMaskedForDisplay } from '../terminal/maskedJson.ts';

export interface ShowOptions {
  readonly full?: true;
  readonly by?: string;
  readonly md?: true;
  /** False where the choices are asked for in place. @defaultValue true */
  readonly commands?: boolean;
}

/** All that a decision on an open gate is about, for programs and for people. */
export interface GatePages {
  readonly document: object;
  readonly lines: readonly Line[];
}

/** What a person is shown of a gate, which is recorded: the next time they are told what has changed. */
export async function gatePages(
  { run, gate }: { readonly run: Run; readonly gate: Gate },
  { md, full, by, commands = true }: ShowOptions,
  session: Session,
): Promise<GatePages> {
  const { out, devs } = session;
  const diff = await readReviewDiff(gate, session);
  const maskedForDisplay = isMaskedForDisplay(gate.artifact);
  const exchanges = await run.exchanges(gate);
  const lastComments = await run.lastComments(gate);
  const said = lastCommentLines(lastComments);
  const talk = [...said, ...exchangeLines(exchanges)];
  const document = {
    ...gate,
    maskedForDisplay,
    ...(diff !== null && { diff }),
    ...(exchanges.length > 0 && { exchanges }),
    ...(lastComments.length > 0 && { lastComments }),
  };
  const code = diff === null ? [] : diffLines(diff, gate, { full: full === true || md === true, devs });
  if (md === true) return { document, lines: renderGateMarkdown(gate, devs, { code, said }) };
  const reader = out.json ? null : readerFrom(by);
  const before = reader === null ? null : await shownTo(reader, { run, gate }, out);
  const isWhole = full === true || !hasChanges(gate.artifact);
  return {
    document,
    lines: renderGate(gate, devs, { before: isWhole ? null : before, code, talk, commands }),
  };
}

/** Where nothing can be written, all of it can be read all the same. */
async function shownTo(
  reader: Principal,
  { run, gate }: { readonly run: Run; readonly gate: Gate },
  out: Session['out'],
): Promise<Gate | null> {
  try {
    return await run.shown(gate, reader);
  } catch (error) {
    if (!isDevsError(error, 'STATE_IO') && !isDevsError(error, 'STATE_DISK_FULL')) throw error;
    out.note(`it is not recorded that ${reader.id} was shown this: ${error.message}`);
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
