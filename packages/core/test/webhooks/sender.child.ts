// FILE URL SECRET    sends to the webhook until it is killed
import { hookedApp } from './hookedGraph.ts';

const [file = '', url = '', secret = ''] = process.argv.slice(2);
await hookedApp(file, url, secret).sendWebhooks();
