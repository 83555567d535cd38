// FILE    exports the spans of its runs until it is killed
import { tracedApp } from './tracedGraph.ts';

const [file = ''] = process.argv.slice(2);
await tracedApp(file).tend({ signal: new AbortController().signal });
