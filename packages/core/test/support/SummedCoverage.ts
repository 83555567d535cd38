import { V8CoverageProvider } from '@vitest/coverage-v8/dist/provider.js';
import { type ScriptCounts, SummedCounts } from './SummedCounts.ts';

type AfterFile = Parameters<V8CoverageProvider['onAfterSuiteRun']>[0];
type Reading = Parameters<V8CoverageProvider['readCoverageFiles']>[0];

/**
 * Vitest writes to a file what each test file has counted, reads and merges them all, and traces the counts of each project
 * back to the sources: half a minute. Here the counts are summed while the tests run, and traced back once. It holds as long
 * as all projects have one root, so that each makes the same JavaScript of a source.
 */
export class SummedCoverage extends V8CoverageProvider {
  #sum = new SummedCounts();
  #project = '';

  override clean(clean?: boolean): Promise<void> {
    this.#sum = new SummedCounts();
    return super.clean(clean);
  }

  override onAfterSuiteRun({ coverage, projectName = '' }: AfterFile): void {
    this.#project = projectName;
    this.#sum.add((coverage as { readonly result: readonly ScriptCounts[] }).result);
  }

  override async readCoverageFiles<Counts>({ onFileRead, onFinished }: Reading): Promise<void> {
    for (const result of this.#sum.layers()) onFileRead({ result } as Counts);
    await onFinished(this.ctx.getProjectByName(this.#project), 'ssr');
  }
}
