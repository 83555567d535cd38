// `pnpm screenshots:trace`: docs/images/trace.png, the spans of a run with a gate in the trace viewer of Perses
// (https://perses.dev), which shows OTLP as a collector receives it. The viewer is installed for this alone, into a temporary folder.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Collector } from '../../core/test/support/Collector.ts';
import { launchChromium, unpackChromium } from '../../ui/test/support/launchChromium.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const IMAGE = join(ROOT, 'docs', 'images', 'trace.png');
const SIZE = { width: 1440, height: 596 } as const;

/** The viewer, and what it is used with. */
const VIEWER = [
  '@perses-dev/tracing-gantt-chart-plugin@0.10.0',
  ...['components', 'core', 'plugin-system'].map((name) => `@perses-dev/${name}@0.52.0`),
  ...['@emotion/react@11.14.0', '@emotion/styled@11.14.1', '@hookform/resolvers@3.10.0'],
  ...['@mui/material@6.5.0', '@tanstack/react-query@4.44.0', 'date-fns@4.4.0', 'date-fns-tz@3.2.0'],
  ...['echarts@5.5.0', 'lodash@4.18.1', 'react@18.3.1', 'react-dom@18.3.1', 'react-router-dom@6.30.6'],
  'use-resize-observer@9.1.0',
];

/** The viewer with what it asks of a dashboard around it. */
const PAGE = `
import { CssBaseline, ThemeProvider } from '@mui/material';
import { ChartsProvider, generateChartsTheme, getTheme, SnackbarProvider } from '@perses-dev/components';
import { BuiltinVariableContext, RouterProvider, VariableContext } from '@perses-dev/plugin-system';
import { TracingGanttChart } from '@perses-dev/tracing-gantt-chart-plugin/lib/TracingGanttChart/TracingGanttChart.js';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
const theme = getTheme('light');
const { trace, selectedSpanId } = JSON.parse(document.getElementById('trace').textContent);
const options = { visual: { palette: { mode: 'auto' } }, selectedSpanId };
const around = [
  [ThemeProvider, { theme }],
  [ChartsProvider, { chartsTheme: generateChartsTheme(theme, {}) }],
  [SnackbarProvider, {}],
  [RouterProvider, { RouterComponent: 'a', navigate() {} }],
  [VariableContext.Provider, { value: { state: {} } }],
  [BuiltinVariableContext.Provider, { value: { variables: [] } }],
  ['div', { style: { height: 'calc(100vh - 32px)', padding: 16 } }],
];
createRoot(document.getElementById('root')).render(
  around.reduceRight(
    (inside, [type, props]) => createElement(type, props, createElement(CssBaseline), inside),
    createElement(TracingGanttChart, { trace, options }),
  ),
);
`;

const work = mkdtempSync(join(tmpdir(), 'devs-trace-'));

interface Sent {
  readonly resourceSpans: readonly object[];
}

/** The spans of a run that waited for a person, as a collector gets them. The times are those of a clock of its own. */
async function sentSpans() {
  const collector = await Collector.start();
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
  process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'http/json';
  process.env['OTEL_SERVICE_NAME'] = 'blog';
  // The package that the exporter of OpenTelemetry is installed for.
  process.chdir(join(ROOT, 'packages', 'core'));
  let at = Date.UTC(2026, 0, 5, 9);
  const passes = (seconds: number): void => {
    at += seconds * 1000;
  };
  const Post = Annotation.Root({ topic: Annotation<string>(), draft: Annotation<string>() });
  const call = (name: string, seconds: number, tokens?: readonly [tokensIn: number, tokensOut: number]) =>
    step(name, ({ usage }) => {
      passes(seconds);
      if (tokens !== undefined) usage({ tokensIn: tokens[0], tokensOut: tokens[1], costUsd: 0.02 });
      return name;
    });
  const builder = new StateGraph(Post)
    .addNode('plan', async () => ({ draft: await call('outline', 38, [310, 220]) }))
    .addNode('write', async () => ({ draft: await call('draft', 96, [900, 1400]) }))
    .addNode('publish', async () => ({ draft: await call('post', 14) }))
    .addNode('announce', async () => ({ draft: await call('mail', 9) }))
    .addEdge(START, 'plan')
    .addEdge('plan', 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', 'announce')
    .addEdge('announce', END);
  const app = durable(builder, {
    ...{ file: join(work, 'posts.sqlite'), name: 'posts', telemetry: true, now: () => at },
    gates: { publish: ({ draft }) => draft },
  });
  const { gates } = await app.run('post-42', { topic: 'green tea' });
  passes(2 * 24 * 3600);
  for (const gate of gates) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  await app.run('post-42');
  await app.exportTrace('post-42');
  app.close();
  await collector.stop();
  const sent = collector.bodies.map((body) => JSON.parse(body.toString()) as Sent);
  const gate = collector.spans.find(({ name }) => name.startsWith('gate '));
  return {
    trace: { resourceSpans: sent.flatMap(({ resourceSpans }) => resourceSpans) },
    selectedSpanId: gate?.spanId,
  };
}

/** The part of esbuild that is used. */
interface Esbuild {
  build(options: object): Promise<{
    readonly outputFiles: readonly { readonly path: string; readonly text: string }[];
  }>;
}

const esbuild = createRequire(join(ROOT, 'packages', 'ui', 'package.json'))('esbuild') as Esbuild;

/** A page with everything in it. */
async function viewerPage(shown: object): Promise<string> {
  writeFileSync(join(work, 'package.json'), '{"private":true}\n');
  const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', ...options, ...VIEWER], { cwd: work, stdio: 'inherit' });
  if (status !== 0) throw new Error('The viewer could not be installed: is the registry there?');
  writeFileSync(join(work, 'page.mjs'), PAGE);
  const { outputFiles } = await esbuild.build({
    ...{ entryPoints: [join(work, 'page.mjs')], bundle: true, minify: true, write: false, format: 'iife' },
    define: { 'process.env.NODE_ENV': '"production"' },
    // Loaded with a dashboard, which there is none of.
    external: ['@perses-dev/dashboards', '@perses-dev/explore'],
    loader: { '.woff': 'dataurl', '.woff2': 'dataurl' },
    outdir: join(work, 'out'),
  });
  const text = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  const data = JSON.stringify(shown).replaceAll('<', '\\u003c');
  return `<!doctype html><meta charset="utf-8"><style>${text('.css')}</style><div id="root"></div>
<script type="application/json" id="trace">${data}</script>
<script>${text('.js').replaceAll('</script', '<\\/script')}</script>`;
}

try {
  const html = await viewerPage(await sentSpans());
  await unpackChromium();
  const browser = await launchChromium();
  const page = await browser.newPage({ viewport: SIZE, locale: 'en-GB', timezoneId: 'UTC' });
  page.on('pageerror', (error) => process.stderr.write(`${error}\n`));
  await page.setContent(html);
  for (const shown of ['devs.gate.decider', 'step mail']) await page.getByText(shown).first().waitFor();
  await page.screenshot({ path: IMAGE });
  await browser.close();
  process.stdout.write('trace.png\n');
} finally {
  rmSync(work, { recursive: true, force: true });
}
