import { DevsError } from '../../errors/DevsError.ts';

/** For what needs the file or the folder of runs where it is called. @param what - Name of the method. */
export function onlyHere(what: string, id?: string): DevsError {
  const whose = id === undefined ? 'These runs are' : `Run "${id}" is`;
  return new DevsError(`${whose} not in a local state file, which ${what} needs.`, {
    code: 'RUN_ELSEWHERE',
    remedy: 'Fetch the run with devs pull, or run the command on the machine with its files.',
    context: { what, ...(id !== undefined && { threadId: id }) },
  });
}
