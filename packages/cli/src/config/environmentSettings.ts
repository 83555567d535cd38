// Variables that a command of a run gets beside those of every one.

import { z } from 'zod';
import { insideProject } from './insideProject.ts';

/** How programs are found and loaded, which would be outside of the sandbox too; and the folders that devs makes. */
const SET_BY_DEVS = /^(?:PATH|HOME|TMPDIR|BASH_ENV|GCONV_PATH|GLIBC_TUNABLES|LD_\w*|DYLD_\w*)$/;

/** Whether a command can be given a variable of this name. */
export const isAllowedVariable = (name: string): boolean =>
  /^[A-Za-z_]\w*$/.test(name) && !SET_BY_DEVS.test(name);

const variableName = z
  .string()
  .refine(isAllowedVariable, 'Expected the name of a variable that devs does not set itself');

/**
 * Members of each part of the configuration that has an environment. A run does not record them: they are read again whenever it is
 * driven, on whichever machine.
 */
export const environmentSettings = {
  env: z.record(variableName, z.string()).exactOptional().describe('More variables, with their values.'),
  envFile: insideProject
    .exactOptional()
    .describe('File of variables in the project folder, such as .env; all of them are passed.'),
  passEnv: z
    .array(variableName)
    .exactOptional()
    .describe('Names of variables of your own environment to pass.'),
};

export const environmentSchema = z.strictObject(environmentSettings);

export type EnvironmentSettings = Readonly<z.infer<typeof environmentSchema>>;

/** Whether anything is named. */
export const hasEnvironment = ({ env, envFile, passEnv }: EnvironmentSettings): boolean =>
  [env, envFile, passEnv].some((source) => source !== undefined);
