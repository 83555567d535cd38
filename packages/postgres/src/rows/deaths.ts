import { MAX_DEATHS, MAX_EARLY_DEATHS } from '../jobs/Jobs.ts';

/** Columns of `runs` after the death of who has the run. One who had not begun it says little: only many of them give it up. */
export const DIED = `CASE WHEN begun THEN deaths + 1
  WHEN early_deaths + 1 >= ${MAX_EARLY_DEATHS} THEN greatest(deaths, ${MAX_DEATHS}) ELSE deaths END`;
export const DIED_EARLY = 'CASE WHEN begun THEN early_deaths ELSE early_deaths + 1 END';
