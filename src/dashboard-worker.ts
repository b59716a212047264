/** Puts the page's script together, beside the server. */
import { parentPort } from 'node:worker_threads';
import { bundleDashboard } from './dashboard-bundle.ts';

parentPort?.postMessage(await bundleDashboard());
