// Gates asked at a prompt while a run is driven: a person reads one, types a choice, and the decision is recorded.
import {
  type DevsError,
  type Gate,
  isDevsError,
  type PipelineResult,
  type Principal,
  type Run,
} from '@devs/core';
import { decisionFromFlags, type Read, wordsFor } from '../gates/answerFlags.ts';
import { EditorFile, writeFeedback } from '../gates/edit/EditorFile.ts';
import { editDecision, editUntilRead, formForGate } from '../gates/edit/editGate.ts';
import { type ChoiceName, GATE_LABELS } from '../gates/gateLabels.ts';
import { type Decision, formatRecordedDecision, recordDecision } from '../gates/recordDecision.ts';
import { ShownGates } from '../gates/ShownGates.ts';
import { isTerminal, type Session } from '../project/Session.ts';
import { maskAsRecorded } from '../project/specOf.ts';
import { answerAtGate } from '../render/gateTalk.ts';
import { isCodeReview } from '../render/renderCodeReview.ts';
import { taskLabelOrEmpty } from '../render/sentence.ts';
import { gatePages, readerFrom, type ShowOptions } from '../show/gatePages.ts';
import { columns } from '../terminal/Line.ts';
import { LineReader } from '../terminal/LineReader.ts';

export const ASK_HELP = 'do not ask at gates on a terminal; leave the run waiting';

export interface AskFlags {
  /** False to leave a run waiting at its gates. @defaultValue asks, on a terminal */
  readonly ask?: boolean;
  /** Stay until the run has ended: decisions of other processes are taken up at once. */
  readonly wait?: true;
}

/**
 * Drives a run, and asks the person at the terminal whenever it waits for one. Nobody is asked where there is no
 * terminal, in CI, with `--no-ask`, or with `--wait`, which takes decisions from elsewhere.
 *
 * @returns `elsewhere` when another process took the run up after a decision.
 */
export async function driveAsking(
  run: Run,
  drive: () => Promise<PipelineResult>,
  flags: AskFlags,
  session: Session,
): Promise<PipelineResult | 'elsewhere'> {
  const result = await drive();
  const person = canWait(result, session) ? personAt(flags, session) : null;
  if (person === null) return result;
  try {
    return await askUntilLater(run, { drive, first: result }, person, session);
  } finally {
    person.reader.close();
  }
}

async function askUntilLater(
  run: Run,
  { drive, first }: { readonly drive: () => Promise<PipelineResult>; readonly first: PipelineResult },
  person: Person,
  session: Session,
): Promise<PipelineResult | 'elsewhere'> {
  for (let result = first; ; ) {
    const [gate] = result.gates;
    if (gate === undefined || !canWait(result, session)) return result;
    if ((await settleGate({ run, gate }, person, session)) === 'later') return result;
    try {
      result = await drive();
    } catch (error) {
      if (!isDevsError(error, 'THREAD_BUSY')) throw error;
      return 'elsewhere';
    }
  }
}

const canWait = ({ status }: PipelineResult, { io: { signal } }: Session): boolean =>
  status === 'waiting' && !signal.aborted;

function personAt({ ask = true, wait }: AskFlags, session: Session): Person | null {
  const { io } = session;
  if (!ask || wait === true || !isTerminal(session) || (io.env['CI'] ?? '') !== '') return null;
  const by = readerFrom(undefined);
  return by && { by, reader: new LineReader(io) };
}

/** A gate that a run waits at. */
interface OpenGate {
  readonly run: Run;
  readonly gate: Gate;
}

/** Who sits at the terminal, and what they are read with. */
interface Person {
  readonly by: Principal;
  readonly reader: LineReader;
}

/** Shows a gate and asks until it is decided, here or elsewhere (`decided`), or is to stay open (`later`). */
async function settleGate(open: OpenGate, person: Person, session: Session): Promise<'decided' | 'later'> {
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

/** What a person may say at a prompt: the choices of the gate, and what decides nothing. */
type PromptWord = ChoiceName | 'read' | 'unhide' | 'talk' | 'later';

interface PromptChoice {
  /** Typed in the place of the word. */
  readonly key: string;
  readonly word: PromptWord;
  readonly meaning: string;
}

const BESIDE: readonly Omit<PromptChoice, 'key'>[] = [
  { word: 'read', meaning: 'show the whole gate again' },
  { word: 'unhide', meaning: 'also show hidden text; this is recorded' },
  { word: 'talk', meaning: 'ask the agent without deciding' },
  { word: 'later', meaning: 'leave the gate open' },
];

/** A letter is the same at every gate, and on the page where that has it too. */
const KEYS: Readonly<Record<PromptWord, string>> = {
  approve: 'a',
  reject: 'r',
  edit: 'e',
  read: 'd',
  talk: 'q',
  unhide: 'h',
  later: 'l',
  retry: 't',
  skip: 's',
  continue: 'o',
  raise: 'm',
  use: 'w',
  repeat: 'x',
  again: 'i',
  'first-task': 'f',
  accept: 'y',
  abort: 'b',
  value: '=',
  version: '+',
};

function promptChoices(
  kind: Gate['kind'],
  { canTalk, hides }: { readonly canTalk: boolean; readonly hides: boolean },
): readonly PromptChoice[] {
  const decisions = GATE_LABELS[kind].choices.map(({ name, meaning }) => ({ word: name, meaning }));
  const beside = BESIDE.filter(({ word }) => (word !== 'talk' || canTalk) && (word !== 'unhide' || hides));
  return [...decisions, ...beside].map(({ word, meaning }) => ({ key: KEYS[word], word, meaning }));
}

/** The choice a line names by its key or word; `null` for none. */
function chosen(line: string, choices: readonly PromptChoice[]): PromptWord | null {
  const said = line.toLowerCase();
  return choices.find(({ key, word }) => said === key || said === word)?.word ?? null;
}

/** What goes with a choice, asked of the person at the terminal; `null` when they think better of it. */
export async function promptDecision(
  choice: ChoiceName,
  open: OpenGate,
  read: Read,
  session: Session,
): Promise<Decision | null> {
  if (choice === 'approve') return { choice, answer: { approved: true } };
  if (choice === 'reject') return promptRejection(open, read, session);
  if (choice === 'edit') return edited(open, session);
  const words = await wordsFor(choice, open.gate, read);
  return words === null ? null : decisionFromFlags(choice, words);
}

async function promptRejection({ gate }: OpenGate, read: Read, { io }: Session): Promise<Decision | null> {
  const line = await read('what should change (empty: open your editor)');
  if (line === null) return null;
  const feedback = line === '' ? await writeFeedback(gate, io) : line;
  if (feedback === null) return null;
  const tasks = await askWhichTasks(gate.artifact, read);
  return tasks === null ? null : { choice: 'reject', answer: { approved: false, feedback, tasks } };
}

/** Of a review of several tasks: which are done again; `null` when the input ended. */
async function askWhichTasks(artifact: unknown, read: Read): Promise<readonly string[] | undefined | null> {
  if (!isCodeReview(artifact)) return undefined;
  const labels = artifact.tasks.map(({ taskId }) => taskLabelOrEmpty(taskId));
  if (labels.length < 2) return undefined;
  const line = await read(`tasks to redo, of ${labels.join(', ')} (empty: ${labels.at(-1)})`);
  if (line === null) return null;
  const named = line.split(/[\s,]+/).filter((label) => label !== '');
  return named.length === 0 ? undefined : named.map((label) => label.toUpperCase());
}

async function edited({ run, gate }: OpenGate, session: Session): Promise<Decision | null> {
  const { kind, sessionId } = gate;
  const form = await formForGate({ run, gate, kind, sessionId }, session);
  const file = await EditorFile.create(form, session.io);
  try {
    const decision = editDecision(await editUntilRead(form, file));
    await file.remove();
    return decision;
  } catch (error) {
    session.out.note(`your text is saved in ${file.path}`);
    throw error;
  }
}
