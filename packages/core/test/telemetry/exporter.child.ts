// FILE AHEAD    exports the spans of its runs until it is killed
import { tracedApp } from './tracedGraph.ts';

// The package that the exporter of OpenTelemetry is installed for.
process.chdir('packages/core');
const [file = '', aheadMs] = process.argv.slice(2);
await tracedApp(file, Number(aheadMs)).tend({ signal: new AbortController().signal });
