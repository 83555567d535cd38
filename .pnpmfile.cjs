'use strict';
// What pnpm does here that depends on the machine.
//
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

/** pnpm-workspace.yaml lets nobody compile it: newer ones get 13, which is prebuilt (scripts/linkDriver.mjs). */
function compileDriver12(config) {
  const isDriver12 = (name) => /^better-sqlite3.*@12\./.test(name);
  const ignored = config.ignoredBuiltDependencies ?? [];
  config.onlyBuiltDependencies = [...(config.onlyBuiltDependencies ?? []), ...ignored.filter(isDriver12)];
  config.ignoredBuiltDependencies = ignored.filter((name) => !isDriver12(name));
  config.allowBuilds = Object.fromEntries(
    Object.entries(config.allowBuilds ?? {}).filter(([name]) => !isDriver12(name)),
  );
}

/** On a clone in which nothing is installed, the demo installs what it uses (scripts/installDemo.mjs). */
function isFirstDemo(dir) {
  const words = process.argv.slice(2).filter((word) => !word.startsWith('-') && word !== 'run');
  return words[0] === 'demo' && !existsSync(join(dir, 'node_modules', '.modules.yaml'));
}

/** Nothing here uses its exporter of OpenTelemetry; with that of the tests of core, LangChain would be there in two forms. */
function withoutExporter(manifest) {
  if (manifest.name === 'langsmith') {
    delete manifest.peerDependencies?.['@opentelemetry/exporter-trace-otlp-proto'];
    delete manifest.peerDependenciesMeta?.['@opentelemetry/exporter-trace-otlp-proto'];
  }
  return manifest;
}

module.exports = {
  hooks: {
    readPackage: withoutExporter,
    updateConfig(config) {
      if (Number(process.versions.node.split('.')[0]) < 22) compileDriver12(config);
      if (isFirstDemo(__dirname)) config.verifyDepsBeforeRun = false;
      const nodedir = headersOfThisNode();
      if (nodedir !== undefined) config.extraEnv = { ...config.extraEnv, npm_config_nodedir: nodedir };
      return config;
    },
  },
};
