// FILE AHEAD    exports the spans of its runs until it is killed
import { tracedApp } from './tracedGraph.ts';

const [file = '', aheadMs] = process.argv.slice(2);
await tracedApp(file, Number(aheadMs)).tend({ signal: new AbortController().signal });
