// What V8 counts, of all projects of the tests as of one: a source that eight of them load is mapped to its lines once, not
// eight times.
import v8 from '@vitest/coverage-v8';

async function getProvider() {
  // Only the main process needs it.
  const { V8CoverageProvider } = await import('@vitest/coverage-v8/dist/provider.js');
  let projectName;
  return new (class extends V8CoverageProvider {
    onAfterSuiteRun(meta) {
      projectName ??= meta.projectName;
      super.onAfterSuiteRun({ ...meta, projectName });
    }
  })();
}

export default { ...v8, getProvider };
