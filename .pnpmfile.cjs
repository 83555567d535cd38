'use strict';
// better-sqlite3 is compiled only where its prebuilt binary cannot be downloaded. Point node-gyp at the
// headers installed beside the running Node.js, so that compiling needs no download either.
const { existsSync, readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

function headersOfThisNode() {
  const nodedir = dirname(dirname(process.execPath));
  const header = join(nodedir, 'include', 'node', 'node_version.h');
  if (!existsSync(header)) return undefined;
  const text = readFileSync(header, 'utf8');
  const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1];
  const version = `v${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`;
  return version === process.version ? nodedir : undefined;
}

module.exports = {
  hooks: {
    updateConfig(config) {
      const nodedir = headersOfThisNode();
      if (nodedir !== undefined) config.extraEnv = { ...config.extraEnv, npm_config_nodedir: nodedir };
      return config;
    },
  },
};
