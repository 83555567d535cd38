import { openStateCopy } from '../../../src/db/createDatabase.ts';
import { isDevsError } from '../../../src/errors/DevsError.ts';
import { doctor } from '../../../src/state/doctor/doctor.ts';
import { goOn, type Moment, type Outcome } from './lives.ts';
import { type RowFault, randomOf, withRowFault } from './rowFault.ts';

/** Tables of which doctor names the damage. */
const NAMED = new Set(['checkpoints', 'checkpoint_blobs', 'checkpoint_writes', 'state_blobs']);

/** What a life says of a run that waits for what does not come. */
const NO_END = 'The run does not end.';

/** ms; a run that goes on takes some. */
const TOO_LONG = 20_000;

/** What came of faults. */
export interface Tally {
  faults: number;
  /** Ended as the sound file does. */
  same: number;
  refused: number;
  /** Not completed. */
  otherEnd: number;
  named: number;
  ofNamed: number;
  /** Of the faults in tables that doctor has to name, those that it did not. */
  readonly unnamed: string[];
  /** Refused with what is no error of the engine. */
  readonly untyped: string[];
  /** Completed with other values, or past a gate. */
  readonly wrong: string[];
}

async function outcomeOf(
  moment: Pick<Moment, 'life' | 'file'>,
): Promise<Outcome | { readonly refused: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The run hangs.')), TOO_LONG);
  });
  try {
    return await Promise.race([goOn(moment), late]);
  } catch (refused) {
    return { refused };
  } finally {
    clearTimeout(timer);
  }
}

/** A gate that the sound run asks at and this one did not. */
function skippedIn({ asked }: Outcome, sound: Outcome): string | undefined {
  const left = [...asked];
  return sound.asked.find((gate) => {
    const at = left.indexOf(gate);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

function findingsIn(file: Buffer): ReadonlySet<string> {
  try {
    const db = openStateCopy(file);
    const found = new Set(doctor(db).findings.map((finding) => JSON.stringify(finding)));
    db.close();
    return found;
  } catch (error) {
    return new Set([String(error)]);
  }
}

async function judge(
  { life, sound, file: before }: Moment,
  damaged: { readonly file: Buffer; readonly fault: RowFault },
  tally: Tally,
): Promise<void> {
  const { fault, file } = damaged;
  const told = `${life.name}: ${fault.kind} in ${fault.table}: ${fault.rows}`;
  tally.faults += 1;
  if (NAMED.has(fault.table)) {
    tally.ofNamed += 1;
    const known = findingsIn(before);
    if ([...findingsIn(file)].some((finding) => !known.has(finding))) tally.named += 1;
    else tally.unnamed.push(told);
  }
  const outcome = await outcomeOf({ life, file });
  if ('refused' in outcome) {
    if (outcome.refused instanceof Error && outcome.refused.message === NO_END) {
      tally.otherEnd += 1;
      return;
    }
    tally.refused += 1;
    if (!isDevsError(outcome.refused)) tally.untyped.push(`${String(outcome.refused)}: ${told}`);
    return;
  }
  const isSame =
    outcome.status === sound.status && JSON.stringify(outcome.values) === JSON.stringify(sound.values);
  const skipped = skippedIn(outcome, sound);
  if (outcome.status !== 'completed' && !isSame) tally.otherEnd += 1;
  else if (isSame && skipped === undefined) tally.same += 1;
  else tally.wrong.push(`${told}: ${skipped ?? JSON.stringify(outcome).slice(0, 300)}`);
}

/** Makes so many faults in any of the moments, the same for the same seeds, and goes on from each. */
export async function tallyOf(moments: readonly Moment[], faults: number, firstSeed = 1): Promise<Tally> {
  const tally: Tally = {
    ...{ faults: 0, same: 0, refused: 0, otherEnd: 0, named: 0, ofNamed: 0 },
    ...{ unnamed: [], untyped: [], wrong: [] },
  };
  for (let seed = firstSeed; tally.faults < faults; seed += 1) {
    const random = randomOf(seed);
    const moment = moments[Math.floor(random() * moments.length)];
    const damaged = moment === undefined ? null : withRowFault(moment.file, random);
    if (moment !== undefined && damaged !== null) await judge(moment, damaged, tally);
  }
  return tally;
}
