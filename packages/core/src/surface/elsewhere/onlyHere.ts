import { DevsError } from '../../errors/DevsError.ts';

/** For what needs the file or the folder of runs where it is called. @param what - Name of the method. */
export function onlyHere(what: string, id?: string): DevsError {
  const whose = id === undefined ? 'These runs are' : `Run "${id}" is`;
  return new DevsError(`${whose} in files elsewhere: ${what} works in a local state file alone.`, {
    code: 'RUN_ELSEWHERE',
    remedy: 'Take the run here (devs pull), or do it where its files are.',
    context: { what, ...(id !== undefined && { threadId: id }) },
  });
}
