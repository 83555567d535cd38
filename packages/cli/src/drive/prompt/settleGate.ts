import { type DevsError, isDevsError, type Principal } from '@devs/core';
import { formatRecordedDecision, recordDecision } from '../../gates/recordDecision.ts';
import { ShownGates } from '../../gates/ShownGates.ts';
import { maskAsRecorded } from '../../project/maskAsRecorded.ts';
import type { Session } from '../../project/Session.ts';
import { answerAtGate } from '../../render/exchangeLines.ts';
import { gatePages, type ShowOptions } from '../../show/gatePages.ts';
import { columns } from '../../terminal/columns.ts';
import type { LineReader } from '../../terminal/LineReader.ts';
import type { OpenGate } from './OpenGate.ts';
import { chosen, type PromptChoice, type PromptWord, promptChoices } from './promptChoices.ts';
import { promptDecision } from './promptDecision.ts';

/** Who sits at the terminal, and what they are read with. */
export interface Person {
  readonly by: Principal;
  readonly reader: LineReader;
}

/** Shows a gate and asks until it is decided, here or elsewhere (`decided`), or is to stay open (`later`). */
export async function settleGate(
  open: OpenGate,
  person: Person,
  session: Session,
): Promise<'decided' | 'later'> {
  const whyUnasked = await open.run.askUnavailableReason(open.gate);
  const hides = await showOpen(open, {}, session);
  const choices = promptChoices(open.gate.kind, { canTalk: whyUnasked === null, hides });
  sayChoices(choices, session);
  if (whyUnasked !== null) session.out.print('', `questions are not possible: ${whyUnasked}`);
  for (;;) {
    const line = await readLine('decide', person, session);
    if (line === null) return 'later';
    const word = chosen(line, choices);
    const done = word === null ? repeat(choices, session) : await takeWord(word, open, person, session);
    if (done !== null) return done;
  }
}

function repeat(choices: readonly PromptChoice[], session: Session): null {
  sayChoices(choices, session);
  return null;
}

/** `null`: ask again. */
async function takeWord(
  word: PromptWord,
  open: OpenGate,
  person: Person,
  session: Session,
): Promise<'decided' | 'later' | null> {
  if (word === 'later') return 'later';
  if (word === 'read') await showOpen(open, { full: true }, session);
  else if (word === 'unhide') await showOpen(open, { reveal: true, by: person.by.id }, session);
  else if (word === 'talk') await talk(open, person, session);
  else return decideByWord(word, open, person, session);
  return null;
}

/** Until nothing is asked any more. */
async function talk({ run, gate }: OpenGate, person: Person, session: Session): Promise<void> {
  for (;;) {
    const question = await readLine('your question (empty: back)', person, session);
    if (question === null || question === '') return;
    await maskAsRecorded(run);
    const { signal } = session.io;
    try {
      const { answer } = await run.ask(gate, question, { by: person.by, signal });
      session.out.print('', ...answerAtGate(gate, answer), '');
    } catch (error) {
      if (signal.aborted) return;
      if (!isDevsError(error)) throw error;
      session.out.note(`${error.message} ${error.remedy}`);
    }
  }
}

async function decideByWord(
  word: Exclude<PromptWord, 'later' | 'read' | 'unhide' | 'talk'>,
  open: OpenGate,
  person: Person,
  session: Session,
): Promise<'decided' | null> {
  const { run, gate } = open;
  try {
    const read = (question: string) => readLine(question, person, session);
    const decision = await promptDecision(word, open, read, session);
    if (decision === null) {
      session.out.note('No decision was recorded; the gate stays open.');
      return null;
    }
    await maskAsRecorded(run);
    const named = { run, gate, kind: gate.kind, sessionId: gate.sessionId };
    const signed = { by: person.by, hash: gate.artifactHash };
    session.out.print(
      formatRecordedDecision(decision, await recordDecision(named, decision, signed, session)),
    );
    return 'decided';
  } catch (error) {
    if (!isDevsError(error)) throw error;
    if (CLOSED.has(error.code)) {
      session.out.note(error.message);
      return 'decided';
    }
    if (!MENDABLE.has(error.code)) throw error;
    session.out.note(`${error.message} ${error.remedy}`);
    return null;
  }
}

/** Somebody else was first: the run goes on from what they decided. */
const CLOSED: ReadonlySet<DevsError['code']> = new Set(['GATE_ALREADY_DECIDED', 'GATE_STALE']);

/** What the person can say in another way. */
const MENDABLE: ReadonlySet<DevsError['code']> = new Set([
  'INVALID_ANSWER',
  'FEEDBACK_REQUIRED',
  'CONFIG_INVALID',
  'DAG_INVALID',
  'GATE_HIDDEN',
]);

/** @returns Whether it hides anything. */
async function showOpen(
  open: OpenGate,
  options: Pick<ShowOptions, 'full' | 'reveal' | 'by'>,
  session: Session,
): Promise<boolean> {
  const { document, lines, hides } = await gatePages(open, { ...options, commands: false }, session);
  session.out.print('');
  await session.out.pages(document, lines);
  new ShownGates(session).remember([open.gate]);
  return hides;
}

function sayChoices(choices: readonly PromptChoice[], { out }: Session): void {
  out.print('', ...columns(choices.map(({ key, word, meaning }) => [`  ${key}`, word, meaning])));
}

async function readLine(question: string, { reader }: Person, { out }: Session): Promise<string | null> {
  out.ask(`${question}: `);
  return reader.next();
}
