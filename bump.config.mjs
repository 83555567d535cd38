// What `pnpm release:version` sets, and what goes into its commit.
export default {
  files: ['packages/*/package.json'],
  execute: 'node scripts/close-changelog.mjs',
  all: true,
  commit: 'chore: release v%s',
  tag: 'v%s',
  push: false,
};
