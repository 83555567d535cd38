import type { Orchestrator } from '@devs/core';
import { runIdOfText } from '@devs/core/internal';
import { REPLAY } from '../flags/agentNames.ts';
import { askYes } from './acceptedConfig.ts';
import { isTerminal, type Session } from './Session.ts';

/** Flags about the size of a run. */
interface SizeFlags {
  readonly id?: string;
  readonly quick?: true;
  readonly ask?: boolean;
  readonly yes?: true;
  readonly documents?: unknown;
  readonly plan?: unknown;
  readonly until?: unknown;
  readonly epic?: unknown;
  readonly only?: unknown;
  readonly canAsk: boolean;
}

interface SizedRun {
  readonly devs: Pick<Orchestrator, 'list'>;
  readonly session: Session;
  /** Their names. */
  readonly agents: string;
}

/** Limits of a brief for one task: characters and list items. The report of a bug may be longer. */
const SMALL = { characters: 300, items: 1 };
const BUG_CHARACTERS = 2_000;

const BUG =
  /\b(?:bug|fix(?:es|ed)?|broken|crash(?:es|ed)?|regression|typo|wrong(?:ly)?|throws|fails?|off by one)\b/i;
const LARGE = /\b(?:redesign|rewrite|architecture|migrat\w+|several|multiple|each of the|epics?|phases?)\b/i;

/** Why a brief may be one task; `null` for one that asks for more. */
export function whySmall(brief: string): 'a bug' | 'a small change' | null {
  const text = brief.trim();
  const items = text.match(/^\s*(?:[-*]|\d+\.) /gm)?.length ?? 0;
  const headings = text.match(/^#{1,6} /gm)?.length ?? 0;
  if (LARGE.test(text) || headings > 2) return null;
  if (BUG.test(text.split('\n', 1)[0] ?? '') && text.length <= BUG_CHARACTERS) return 'a bug';
  return text.length <= SMALL.characters && items <= SMALL.items ? 'a small change' : null;
}

/**
 * Proposes `--quick` for a brief that looks like one task. Asks on a terminal, and prints a note elsewhere. Only a yes chooses
 * it.
 */
export async function proposedSize(
  brief: string,
  flags: SizeFlags,
  { devs, session, agents }: SizedRun,
): Promise<{ readonly quick?: true }> {
  const isFree = agents === 'none' || agents.startsWith(REPLAY);
  const why = isSized(flags) || isFree || brief.trim() === '' ? null : whySmall(brief);
  if (why === null || (await isKnown(flags.id ?? runIdOfText(brief), devs))) return {};
  const what = `This brief looks like ${why}: --quick makes it one task with one gate, without design and plan.`;
  if (!mayAsk(flags, session)) {
    if (!session.out.json) session.out.note(what);
    return {};
  }
  session.out.print(what);
  return (await askYes('do it as --quick (yes or no): ', session)) ? { quick: true } : {};
}

const isSized = ({ quick, documents, plan, until, epic, only }: SizeFlags): boolean =>
  [quick, documents, plan, until, epic, only].some((value) => value !== undefined);

const mayAsk = ({ ask = true, canAsk, yes }: SizeFlags, session: SizedRun['session']): boolean =>
  ask && canAsk && yes === undefined && isTerminal(session) && (session.io.env['CI'] ?? '') === '';

/** A run goes on as it was begun. */
const isKnown = async (id: string, devs: Pick<Orchestrator, 'list'>): Promise<boolean> =>
  (await devs.list({ idPrefix: id, limit: 50 })).some((run) => run.id === id);
