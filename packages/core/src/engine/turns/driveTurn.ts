import type { TurnEnd } from '../../state/ThreadInputStore.ts';

/** How a turn is driven, and what became of it once another one followed. */
export interface TurnDrive<Result> {
  /** Drives the run. `assertCurrent` is to be called under its lease, before anything is done. */
  drive(assertCurrent: () => void): Promise<Result>;
  /** How the turn ended; `null` while the run stands in it. */
  end(): TurnEnd | null;
  /** The result of a turn that another one has followed. */
  past(end: TurnEnd): Promise<Result>;
}

/** Told to nobody: another turn had begun when the run was to be driven. */
class TurnIsOver extends Error {
  readonly end: TurnEnd;

  constructor(end: TurnEnd) {
    super('another turn has begun');
    this.end = end;
  }
}

/** The result of one turn. The next may begin in another process at any moment: it is not driven here, nor told as this one. */
export async function driveTurn<Result>({ drive, end, past }: TurnDrive<Result>): Promise<Result> {
  const assertCurrent = (): void => {
    const ended = end();
    if (ended !== null) throw new TurnIsOver(ended);
  };
  try {
    assertCurrent();
    const driven = await drive(assertCurrent);
    assertCurrent();
    return driven;
  } catch (error) {
    if (error instanceof TurnIsOver) return past(error.end);
    throw error;
  }
}
