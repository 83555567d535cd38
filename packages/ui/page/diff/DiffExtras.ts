import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Additions of a review to the files of its diff. */
export interface DiffExtras {
  /** Criteria that a line of a file as it is now is evidence for. */
  readonly evidenceAt: (path: string, line: number) => readonly string[];
  readonly hasEvidence: (path: string) => boolean;
  /** Every line of a file as it is now. */
  readonly readLines: (path: string) => Promise<readonly string[]>;
  readonly isViewed: (path: string) => boolean;
  readonly setViewed: (path: string, isViewed: boolean) => void;
}

/** `null` outside of a review, such as for the diff of two versions. */
export const DiffExtrasContext = createContext<DiffExtras | null>(null);

export const useDiffExtras = (): DiffExtras | null => useContext(DiffExtrasContext);
