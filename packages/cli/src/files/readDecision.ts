import path from 'node:path';
import { z } from 'zod';
import type { Io } from '../terminal/Io.ts';
import { usageError } from '../usageError.ts';
import { readHanded } from './readHanded.ts';

/** A decision that was made elsewhere, such as in a reviewed pull request; `devs show --md` prints one to fill in. */
const decisionAbout = {
  session: z.string().min(8),
  /** The whole hash: the file may have been lying around. */
  hash: z.string().regex(/^[0-9a-f]{64}$/i, 'Expected the 64 hex digits of a SHA-256'),
  by: z.string().min(1).exactOptional(),
  /** Hidden places that are said yes to unread. */
  withHidden: z.int().min(0).exactOptional(),
};
const approvalFileSchema = z.strictObject({
  ...decisionAbout,
  approved: z.boolean(),
  feedback: z.string().exactOptional(),
  /** Of a review: `T1`, `T2`, …, what is done again. */
  tasks: z.array(z.string()).exactOptional(),
  /** Of a no; each as the engine takes it. */
  comments: z.array(z.unknown()).exactOptional(),
});
const valueFileSchema = z.strictObject({ ...decisionAbout, value: z.unknown() });

export type DecisionFile = Readonly<z.infer<typeof approvalFileSchema> | z.infer<typeof valueFileSchema>>;

/** @throws DevsError `CONFIG_INVALID` naming each field that is wrong. */
export async function readDecision(name: string, { cwd }: Pick<Io, 'cwd'>): Promise<DecisionFile> {
  const file = path.resolve(cwd, name);
  const json = await readDecisionJson(file);
  const isValue = typeof json === 'object' && json !== null && Object.hasOwn(json, 'value');
  const parsed = (isValue ? valueFileSchema : approvalFileSchema).safeParse(json);
  if (parsed.success) return parsed.data;
  throw invalidDecision(file, z.prettifyError(parsed.error), parsed.error);
}

async function readDecisionJson(file: string): Promise<unknown> {
  try {
    return JSON.parse((await readHanded(file)).toString());
  } catch (error) {
    throw invalidDecision(file, (error as Error).message, error);
  }
}

function invalidDecision(file: string, why: string, cause: unknown) {
  return usageError(
    `${file} does not contain a decision: ${why}`,
    'Use { session, hash, approved, feedback?, comments?, tasks?, withHidden?, by? } or { session, hash, value, withHidden?, by? } as printed by devs show --md.',
    cause,
  );
}
