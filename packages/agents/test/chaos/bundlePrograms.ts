import { bundlePrograms as bundle } from '../../../core/test/support/bundlePrograms.ts';

export interface Programs {
  readonly run: string;
  readonly modelServer: string;
}

/**
 * The driver and the model server, each as one JavaScript file.
 *
 * @param dir - Where the files go.
 */
export async function bundlePrograms(dir: string): Promise<Programs> {
  const sources = ['run.child.ts', 'modelServer.child.ts'].map((name) => new URL(name, import.meta.url));
  const [run = '', modelServer = ''] = await bundle(sources, dir);
  return { run, modelServer };
}
