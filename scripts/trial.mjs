// The pipeline on real repositories, with agents that have vices. See docs/internals/trial.md.
//
//   pnpm trial                    all combinations, within an hour
//   pnpm trial --only p-limit     those of one repository, agent or transport
//   pnpm trial --list             what there is
await import('../packages/cli/test/trial/main.ts');
